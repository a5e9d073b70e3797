// Where the words come from that a shell offers: closed lists, and what a running router has at this moment.

import type { DecisionList, JobList, ModelList } from "../client/wire.ts";
import type { StatusWire } from "../client/wire-status.ts";
import { ENGINE_KINDS } from "../discovery/found.ts";
import { BANDS } from "../domain/band.ts";
import { SCOPES } from "../domain/caller-key.ts";
import { CAUSES } from "../domain/wait.ts";
import { DEFAULT_URL, toldUrl } from "./address.ts";
import type { Io } from "./command.ts";
import { timeText } from "./instant.ts";
import { STATUSES } from "./job-text.ts";
import { routerClient } from "./router-client.ts";

/** The shell's own file names. */
export const FILES = ":files";

type Live = "models" | "jobs" | "decisions" | "devices";
export type Candidate = readonly [value: string, meaning: string];

export type Source = Live | typeof FILES | readonly Candidate[];

const NEWEST = 20;

const words = (all: readonly string[]): readonly Candidate[] => all.map((each) => [each, ""]);

/** Written here and compared in a test with what reads them: asking that would load a scheduler, or a simulator. */
const POLICIES = ["model-score", "fifo", "serial", "longest", "stint"];
const SETTINGS =
  "minResidencySeconds maxWaitSeconds switchCostWeight serveBeforeSwap strict agingDivisorSeconds swapAffinityBonus batch " +
  "ageWeight depthWeight idleLapse weight doublesSeconds visitSeconds swapShare burst price hold holdMax " +
  "rateHalfLifeSeconds carry rescueSlack rescue drainSeconds";
const WORKLOADS =
  "essay homelab homelab-x3 poisson-0.3 poisson-0.5 poisson-0.8 overload-1.2 adversary azure mooncake servegen " +
  "homelab-packed livelock rare bursts three collation";

const FLAGS: Readonly<Record<string, Source>> = {
  model: "models",
  device: "devices",
  after: "jobs",
  status: words(STATUSES),
  band: words(BANDS),
  priority: words(BANDS),
  kind: words(["swap", "load", "preload", "unload", "hold", "idle"]),
  sort: words(["wait"]),
  policy: words(POLICIES),
  set: words(SETTINGS.split(" ").map((key) => `${key}=`)),
  workload: words(WORKLOADS.split(" ")),
  cause: words(CAUSES),
  scopes: words(SCOPES),
  only: words([...ENGINE_KINDS, "openai"]),
  endpoint: words(["/v1/chat/completions", "/v1/completions", "/v1/embeddings", "/v1/responses"]),
  logLevel: words(["debug", "info", "warn", "error", "silent"]),
  repeat: words(["daily"]),
  config: FILES,
  file: FILES,
  body: FILES,
  keyFile: FILES,
  to: FILES,
  svg: FILES,
  out: FILES,
};

export function sourceOfFlag(name: string): Source | null {
  return FLAGS[name] ?? null;
}

const VERBS: Readonly<Record<string, readonly string[]>> = {
  jobs: ["list", "show", "wait", "cancel"],
  decisions: ["list", "show"],
  models: ["list", "load", "unload", "pin", "unpin", "drain", "logs"],
  hints: ["list", "add", "remove"],
  keys: ["list", "new", "check"],
  simulate: ["suite", "list", ...WORKLOADS.split(" ")],
  completion: ["bash", "zsh", "fish", "powershell"],
  config: ["schema"],
  import: ["llama-swap"],
};

/** What a word without a dash may be, by the words before it. */
export function sourceOfWord(command: string, before: readonly string[]): Source | null {
  const [verb] = before;
  if (command === "explain") return explained(before);
  if (verb === undefined) return VERBS[command] === undefined ? null : words(VERBS[command]);
  if (command === "models" && verb !== "list" && before.length === 1) return "models";
  if (command === "hints" && verb === "add" && before.length === 1) return "models";
  if (command === "decisions" && verb === "show" && before.length === 1) return "decisions";
  if (command === "jobs" && (verb === "cancel" || (verb !== "list" && before.length === 1))) return "jobs";
  if (command === "import" && before.length === 1) return FILES;
  return null;
}

function explained([first, ...more]: readonly string[]): Source | null {
  if (first === undefined) return "jobs";
  if (more.length > 0) return null;
  if (first === "decision") return "decisions";
  return first === "device" ? "devices" : null;
}

export async function candidatesFor(
  source: Source,
  url: string | null,
  patienceMs: number,
  io: Io,
): Promise<readonly Candidate[] | typeof FILES> {
  if (source === FILES) return FILES;
  if (typeof source !== "string") return source;
  // Reading the folder's configuration would take longer than a shell waits.
  const where = { url: toldUrl(url, io) ?? DEFAULT_URL };
  const router = await routerClient({ timeout: String(patienceMs / 1_000), ...where }, io);
  const at = (seconds: number): string => timeText(seconds * 1_000, io.zone);
  if (source === "models") {
    const { data } = (await router.ask("GET", "/v1/models")) as ModelList;
    return data.flatMap(({ id, sir }) => [id, ...sir.aliases].map((name): Candidate => [name, sir.state]));
  }
  if (source === "devices") {
    const { devices } = (await router.ask("GET", "/v1/status")) as StatusWire;
    return devices.map(({ id, phase }) => [id, phase]);
  }
  if (source === "jobs") {
    const { data } = (await router.ask("GET", `/v1/jobs?limit=${NEWEST}`)) as JobList;
    return data.map(({ id, status, model, created_at }) => [id, `${at(created_at)} ${status} ${model}`]);
  }
  const { data } = (await router.ask("GET", `/v1/decisions?limit=${NEWEST}`)) as DecisionList;
  return data.map(({ id, at: made, sentence }) => [id, `${at(made)} ${sentence}`]);
}
