// OpenAI's own client on the app of a test, without a socket.

import OpenAI from "openai";
import type { Given } from "./given.ts";

export function clientOf(world: Pick<Given, "app">): OpenAI {
  const fetch: typeof globalThis.fetch = async (input, init) => world.app.request(input as string, init);
  return new OpenAI({ baseURL: "http://sir/v1", apiKey: "none", fetch, maxRetries: 0 });
}
