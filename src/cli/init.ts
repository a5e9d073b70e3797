// `sir init`: looks at the machine and writes a configuration for what runs on it. It loads, starts and stops nothing.

import { ENGINE_KINDS } from "../discovery/found.ts";
import { defineSirCommand, UsageError } from "./command.ts";

export const init = defineSirCommand({
  name: "init",
  summary: "Look at this machine and write a configuration for what runs on it; starts and stops nothing.",
  examples: [
    ["sir init", "asks two questions, then writes sir.config.ts"],
    ["sir init > sir.config.ts", "without questions: what is printed can be read first"],
    ["sir init --yes --only ollama", "all of Ollama's models, nothing else"],
  ],
  args: {
    yes: { type: "boolean", alias: "y", description: "Ask nothing: all models; containers only with --containers." },
    dryRun: {
      type: "boolean",
      description: "Print the file and write nothing; so it is without a terminal and --yes.",
    },
    force: { type: "boolean", description: "Write over a sir.config.ts that is there." },
    only: {
      type: "string",
      valueHint: "KINDS",
      description: `Only these engines, by comma: ${ENGINE_KINDS.join(", ")}.`,
    },
    host: { type: "string", valueHint: "HOST", description: "Look at one more host, or HOST:PORT (repeatable)." },
    measure: { type: "boolean", description: "Load each model once, after a question, to know what it takes." },
    containers: { type: "boolean", description: "SIR may start and stop the vLLM containers that are found." },
  },
  repeats: ["host"],
  run: async (args, io) => {
    const surroundings = { environment: io.environment, platform: process.platform, arch: process.arch, root: "" };
    const only = kindsOf(args.only);
    const hosts = hostsOf(args.host);
    const { lookFor, settle } = await import("./init-run.ts");
    io.say("Looking at this machine …");
    return await settle(await lookFor(surroundings, hosts, only), args, io);
  },
});

function kindsOf(given: string | undefined): readonly string[] | null {
  if (given === undefined) return null;
  const kinds = given
    .split(",")
    .map((kind) => kind.trim())
    .filter((kind) => kind !== "");
  const known = [...ENGINE_KINDS, "openai"] as readonly string[];
  const unknown = kinds.find((kind) => !known.includes(kind));
  if (unknown !== undefined)
    throw new UsageError(`--only: "${unknown}" is no kind of engine. Known: ${known.join(", ")}.`);
  return kinds;
}

function hostsOf(given: string | readonly string[] | undefined): readonly string[] {
  const hosts = given === undefined ? [] : [given].flat();
  for (const host of hosts) {
    const url = /^https?:\/\//.test(host) ? host : `http://${host}`;
    if (!URL.canParse(url)) throw new UsageError(`--host: "${host}" is no host. Write HOST or HOST:PORT.`);
  }
  return hosts;
}
