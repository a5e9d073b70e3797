// What a configuration file imports. Typed identity; everything is checked when the router reads the file.

import type { ConfigInput } from "./schema.ts";

export function defineConfig(config: ConfigInput): ConfigInput {
  return config;
}
