// `sir keys`: make an API key, list the configured ones, and say whose a key is. A key is shown once, when it is made;
// what stands in the configuration is its hash.

import { closest } from "../config/closest.ts";
import { type CallerKey, KEY_NAME, SCOPES, type Scope } from "../domain/caller-key.ts";
import { apiKeyHash, newApiKey } from "../system/api-key.ts";
import { defineSirCommand, type Io, UsageError } from "./command.ts";
import { CONFIG_ARGS, flagsFrom } from "./config-args.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { keyOf } from "./router-client.ts";
import { printTable } from "./table.ts";

const VERBS = ["list", "new", "check"] as const;
type Verb = (typeof VERBS)[number];

export const keys = defineSirCommand({
  name: "keys",
  summary: "Make an API key for a caller, list the configured ones, or say whose a key is.",
  examples: [
    ["sir keys new review-bot", "a key that may submit; prints it, and the lines for sir.config.ts"],
    ["sir keys new grafana --scopes observe > grafana.key", "the key alone goes to the file"],
    ["sir keys list", "who has a key, and what it may do"],
    ["sir keys check --key-file grafana.key", "whose it is; exits 4 when it is nobody's"],
  ],
  args: {
    verb: { type: "positional", required: false, description: `One of ${VERBS.join(", ")}; default list.` },
    name: { type: "positional", required: false, description: "With new: the caller's name." },
    scopes: {
      type: "string",
      valueHint: "LIST",
      description: `With new: ${SCOPES.join(", ")}, separated by commas; default submit.`,
    },
    keyFile: {
      type: "string",
      valueHint: "FILE",
      description: "With check: a file that holds the key; default SIR_API_KEY.",
    },
    config: CONFIG_ARGS.config,
  },
  run: async (args, io) => {
    const json = args["json"] === true;
    const verb = verbOf(String(args["verb"] ?? "list"));
    const { loadConfig } = await import("../config/load.ts");
    const flags = flagsFrom({ config: args["config"] });
    const reading = loadConfig({ cwd: io.cwd, environment: io.environment, flags });
    if (verb === "new") {
      // A configuration that cannot be read is no reason to make no key.
      const first = await reading.then(({ keys: all }) => all.length === 0).catch(() => true);
      return make(args["name"], scopesOf(args["scopes"]), { json, first }, io);
    }
    const { keys: held, file } = await reading;
    return verb === "list" ? list(held, json, io) : check(held, keyOf(args["keyFile"], io), { json, file, io });
  },
});

function verbOf(word: string): Verb {
  const verb = VERBS.find((each) => each === word);
  if (verb !== undefined) return verb;
  const near = closest(word, VERBS);
  const hint = near === null ? `Known: ${VERBS.join(", ")}.` : `Did you mean "${near}"?`;
  throw new UsageError(`sir keys does not know "${word}". ${hint}`);
}

function scopesOf(given: unknown): Scope[] {
  const words = typeof given === "string" ? given.split(",").map((word) => word.trim()) : ["submit"];
  return words.map((word) => {
    const scope = SCOPES.find((each) => each === word);
    if (scope === undefined) throw new UsageError(`"${word}" is no scope. There are ${SCOPES.join(", ")}.`);
    return scope;
  });
}

interface Making {
  readonly json: boolean;
  /** No key is configured yet. */
  readonly first: boolean;
}

function make(name: unknown, scopes: readonly Scope[], { json, first }: Making, io: Io): ExitCode {
  if (typeof name !== "string") throw new UsageError("sir keys new needs a name, such as `sir keys new review-bot`.");
  if (!KEY_NAME.test(name)) {
    throw new UsageError(`"${name}" is no name for a key: 1 to 64 letters, digits, dots, hyphens, underscores or @.`);
  }
  const key = newApiKey();
  const sha256 = apiKeyHash(key);
  if (json) {
    io.out(JSON.stringify({ name, key, sha256, scopes }));
    return EXIT.done;
  }
  io.out(key);
  const line = `${JSON.stringify(name)}: { sha256: "${sha256}", scopes: ${JSON.stringify(scopes)} },`;
  const lines = first ? ["  keys: {", `    ${line}`, "  },"] : [`    ${line}`];
  const place = first ? "sir.config.ts" : "`keys` of sir.config.ts";
  io.say(
    [`This is shown once. Put its hash into ${place}, then send the router SIGHUP or restart it:`, "", ...lines].join(
      "\n",
    ),
  );
  return EXIT.done;
}

const entryOf = ({ name, sha256, scopes }: CallerKey): object => ({ name, scopes, sha256 });

function list(held: readonly CallerKey[], json: boolean, io: Io): ExitCode {
  if (json) io.out(JSON.stringify({ object: "list", data: held.map(entryOf), has_more: false }));
  else {
    const rows = held.map(({ name, scopes, sha256 }) => [name, scopes.join(","), sha256.slice(0, 12)]);
    printTable(io, [{ title: "NAME", least: 12 }, { title: "SCOPES" }, { title: "SHA256" }], rows);
    if (rows.length === 0)
      io.say("No keys: everybody who reaches the router is let in. `sir keys new NAME` makes one.");
  }
  return EXIT.done;
}

interface CheckContext {
  readonly json: boolean;
  readonly file: string | null;
  readonly io: Io;
}

function check(held: readonly CallerKey[], key: string | null, { json, file, io }: CheckContext): ExitCode {
  if (key === null) throw new UsageError("sir keys check reads the key from SIR_API_KEY or --key-file.");
  const found = held.find(({ sha256 }) => sha256 === apiKeyHash(key));
  if (found !== undefined) {
    io.out(json ? JSON.stringify(entryOf(found)) : `${found.name}: ${found.scopes.join(", ")}`);
    return EXIT.done;
  }
  const message = `This key is nobody's in ${file ?? "the default configuration"}.`;
  io.err(json ? JSON.stringify({ error: { code: "invalid_api_key", message } }) : `sir: ${message}`);
  return EXIT.denied;
}
