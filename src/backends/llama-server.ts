// The llama-server driver: models of one llama.cpp server in router mode, each a process that the server starts and ends.
// A load is answered at once and followed by its status; `autoload=false` keeps requests from loading anything.

import { z } from "zod";
import { defineDriver, LoadError } from "./backend.ts";
import { type Dialect, type Listed, listIn, memberOf, numberOf, refusalOf, textOf } from "./model-server/dialect.ts";
import { ModelServer } from "./model-server/model-server.ts";
import { originOf, serverFields } from "./model-server/options.ts";

const ASK_MS = 5_000;
const UNLOAD_MS = 15_000;

const llamaServerOptions = z.strictObject(serverFields("http://127.0.0.1:8080"));

type LlamaServerOptions = z.output<typeof llamaServerOptions>;

export const llamaServer = defineDriver({
  name: "llama-server",
  options: llamaServerOptions,
  usesDevice: true,
  shareKey: (_model, options: LlamaServerOptions) => originOf(options),
  create: (members, context) => new ModelServer(dialect, members, context),
});

const STATES: Readonly<Record<string, Listed["state"]>> = {
  unloaded: "absent",
  loading: "loading",
  downloading: "loading",
  loaded: "ready",
  sleeping: "asleep",
};

const dialect: Dialect<LlamaServerOptions> = {
  server: "llama-server",
  query: "?autoload=false",

  async list(http, signal) {
    const answer = await http.ask({ method: "GET", path: "/models?autoload=false", limitMs: ASK_MS, signal });
    return listIn("llama-server", answer, "data").map(listed);
  },

  async load({ http, name, signal }, found) {
    if (found.state !== "absent") return;
    const ask = { method: "POST", path: "/models/load", body: { model: name }, limitMs: null, signal } as const;
    const answer = await http.ask(ask);
    if (answer.status === 200 || answer.message.includes("already running")) return;
    // Its 404 says "File Not Found", whatever was not found.
    if (answer.status === 404) {
      throw new LoadError(
        `llama-server has no model ${name}: put it into its --models-dir or --models-preset, or name it by upstreamName`,
      );
    }
    const mend = answer.message.includes("limit") ? "; raise its --models-max, this router decides what is loaded" : "";
    throw new LoadError(refusalOf("llama-server", `load ${name}`, answer) + mend);
  },

  async unload({ http, name, signal }) {
    const ask = { method: "POST", path: "/models/unload", body: { model: name }, limitMs: UNLOAD_MS, signal } as const;
    const answer = await http.ask(ask);
    if (answer.status === 200 || answer.message.includes("not running")) return;
    throw new LoadError(refusalOf("llama-server", `unload ${name}`, answer));
  },

  disowns: (status, text) => status === 400 && /model is not loaded|is not running/.test(text),

  async advise(http, signal) {
    const { json } = await http.ask({ method: "GET", path: "/props?autoload=false", limitMs: ASK_MS, signal });
    const most = numberOf(json, "max_instances") ?? 0;
    return [
      ...(memberOf(json, "models_autoload") === true
        ? ["Start llama-server with --no-models-autoload: now a request from elsewhere loads models behind the router."]
        : []),
      ...(most > 0
        ? [`llama-server unloads the least recently used model by itself beyond ${most} (--models-max).`]
        : []),
    ];
  },
};

/** @throws {LoadError} for a server that is started with one model of its own */
function listed(model: unknown): Listed {
  const name = textOf(model, "id");
  const status = memberOf(model, "status");
  const value = textOf(status, "value");
  if (value === "") {
    throw new LoadError("this llama-server serves one model of its own: start it without -m, as a router");
  }
  const aliases = memberOf(model, "aliases");
  const exitCode = numberOf(status, "exit_code");
  return {
    name,
    aliases: Array.isArray(aliases) ? aliases.filter((each) => typeof each === "string") : [],
    state: STATES[value] ?? "absent",
    ...(memberOf(status, "failed") === true ? { detail: exitInWords(exitCode) } : {}),
  };
}

function exitInWords(code: number | null): string {
  const signals: Readonly<Record<number, string>> = { 134: "SIGABRT", 137: "SIGKILL", 139: "SIGSEGV" };
  const signal = code === null ? undefined : signals[code];
  return `its process ended with exit code ${code ?? "unknown"}${signal === undefined ? "" : ` (${signal})`}`;
}
