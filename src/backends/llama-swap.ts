// The llama-swap driver: an existing llama-swap as an engine. It has no order to load: a request through `/upstream` has
// the model started, and may have others stopped by llama-swap's own rules. Others use it too; `/running` tells.

import { z } from "zod";
import { defineDriver, LoadError } from "./backend.ts";
import { type Dialect, type Listed, listIn, numberOf, refusalOf, textOf } from "./model-server/dialect.ts";
import { ModelServer } from "./model-server/model-server.ts";
import { originOf, serverFields } from "./model-server/options.ts";

const ASK_MS = 5_000;

const llamaSwapOptions = z.strictObject({
  ...serverFields("http://127.0.0.1:8080"),
  wakePath: z
    .string()
    .regex(/^\/[\x21-\x7e]*$/, "must begin with / and hold no spaces")
    .default("/health")
    .describe("What is asked of the model's own server to have llama-swap start it; any answer will do."),
});

type LlamaSwapOptions = z.output<typeof llamaSwapOptions>;

export const llamaSwap = defineDriver({
  name: "llama-swap",
  options: llamaSwapOptions,
  usesDevice: true,
  shareKey: (_model, options: LlamaSwapOptions) => originOf(options),
  create: (members, context) => new ModelServer(dialect, members, context),
});

const STATES: Readonly<Record<string, Listed["state"]>> = {
  starting: "loading",
  ready: "ready",
  stopping: "leaving",
  shutdown: "leaving",
};

const dialect: Dialect<LlamaSwapOptions> = {
  server: "llama-swap",

  async list(http, signal) {
    const answer = await http.ask({ method: "GET", path: "/running", limitMs: ASK_MS, signal });
    return listIn("llama-swap", answer, "running").map(listed);
  },

  async load({ http, name, member, signal }, found) {
    if (found.state === "ready") return;
    const path = `/upstream/${pathOf(name)}${member.options.wakePath}`;
    const answer = await http.ask({ method: "GET", path, limitMs: null, signal });
    if (answer.status === 404 && answer.message.includes("model not found")) {
      throw new LoadError(`llama-swap has no model ${name} in its configuration`);
    }
    const list = await this.list(http, signal, member.options);
    if (list.some((each) => each.name === name && each.state !== "leaving")) return;
    const alias =
      answer.status < 400 ? "; it answers, so is this an alias? upstreamName must be the model's own id" : "";
    throw new LoadError(refusalOf("llama-swap", `start ${name}`, answer) + alias);
  },

  async unload({ http, name, signal, member }, found) {
    if (found.state === "leaving") return;
    const ask = { method: "POST", path: `/api/models/unload/${pathOf(name)}`, limitMs: null, signal } as const;
    const answer = await http.ask(ask);
    if (answer.status === 200 || answer.message.includes("model not found")) return;
    if (answer.status !== 404) throw new LoadError(refusalOf("llama-swap", `unload ${name}`, answer));
    await unloadAll(http, name, await this.list(http, signal, member.options), signal);
  },

  async logs(http, signal) {
    const { status, text } = await http.ask({ method: "GET", path: "/logs", limitMs: ASK_MS, signal });
    if (status !== 200) throw new LoadError(`llama-swap did not give its log: status ${status}`);
    return text.split(/\r?\n/).filter((line) => line.trim() !== "");
  },
};

/** Of a llama-swap that can only unload everything: done when there is nothing else. */
async function unloadAll(
  http: Parameters<Dialect<LlamaSwapOptions>["list"]>[0],
  name: string,
  list: readonly Listed[],
  signal: AbortSignal,
): Promise<void> {
  if (list.some((each) => each.name !== name)) {
    throw new LoadError(`this llama-swap can only unload all models at once: update it, others than ${name} run there`);
  }
  const answer = await http.ask({ method: "GET", path: "/unload", limitMs: null, signal });
  if (answer.status !== 200) throw new LoadError(refusalOf("llama-swap", `unload ${name}`, answer));
}

/** Slashes of a model's name stay: llama-swap finds the name segment by segment. */
function pathOf(name: string): string {
  return name.split("/").map(encodeURIComponent).join("/");
}

function listed(model: unknown): Listed {
  const ttl = numberOf(model, "ttl") ?? 0;
  return {
    name: textOf(model, "model"),
    state: STATES[textOf(model, "state")] ?? "absent",
    ...(ttl > 0 ? { shape: `llama-swap unloads it by itself after ${ttl} s without work` } : {}),
  };
}
