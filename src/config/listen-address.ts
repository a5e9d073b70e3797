// Where a router of this folder listens, read without the rest of its configuration: a command that only wants to reach it
// should not have to wait for, or fail with, everything else in there.

import type { Environment } from "./load.ts";
import { ConfigError, problemsOf } from "./problem.ts";
import { readConfigFile } from "./read-file.ts";
import { serverSection } from "./schema-sections.ts";

export interface ListenAddress {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
}

/**
 * As `sir serve` reads it: environment over file over defaults.
 *
 * @param file Null: there is none.
 * @throws {ConfigError}
 */
export async function readListenAddress(file: string | null, environment: Environment): Promise<ListenAddress> {
  const { server = {} } = file === null ? {} : ((await readConfigFile(file)) as { readonly server?: object });
  const { SIR_HOST: host, SIR_PORT: port } = environment;
  const laid = {
    ...server,
    ...(host ? { host } : {}),
    ...(port ? { port: /^\d+$/.test(port) ? Number(port) : port } : {}),
  };
  const parsed = serverSection.safeParse(laid);
  if (parsed.success) return parsed.data;
  throw new ConfigError(
    file,
    problemsOf(parsed.error, laid, ["server"], () => []),
  );
}
