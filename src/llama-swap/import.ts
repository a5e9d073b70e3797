// llama-swap's configuration, taken over: the text of a configuration of SIR, and an account of every setting.

import { closest } from "../config/closest.ts";
import { Block, block, configText, type Entry, entry, GUESS } from "../config/config-text.ts";
import { type Defaults, Draft, type ModelDraft } from "./draft.ts";
import { type Account, Ledger } from "./ledger.ts";
import { switchedOff } from "./model-names.ts";
import { addModel, portsOf } from "./models.ts";
import { peers } from "./peers.ts";
import { bounded, numberOf, textOf, textsOf } from "./reading.ts";
import { routing } from "./routing.ts";
import { type Path, readSource, type Section } from "./source.ts";
import { profiles, selectors } from "./virtual-names.ts";
import { ENV_PRELUDE } from "./words.ts";

export interface Imported extends Account {
  /** The text of `sir.config.ts`. */
  readonly text: string;
  readonly models: readonly string[];
  /** About what is not in the file and yet different. */
  readonly remarks: readonly string[];
}

const USUAL_PORT = 8_000;
/** From which llama-swap counts when it is told nothing. */
const FIRST_PORT = 5_800;
const LEAST_LOAD_SECONDS = 15;
const LONGEST_GRACE_SECONDS = 60;
const LOAD_GUESS_SECONDS = 30;

/**
 * @param port for the router itself
 * @throws {SourceError} when it is no YAML map
 */
export function importLlamaSwap(text: string, fileName: string, port = USUAL_PORT): Imported {
  const source = readSource(text);
  const ledger = new Ledger(source);
  const { root } = source;
  const draft = new Draft(root, ledger);
  const macros = root.below("macros");
  const models = root.below("models");
  const startPort = root.get("startPort");
  const firstPort = numberOf(startPort, ledger) ?? FIRST_PORT;
  const ports = portsOf(models, macros, firstPort);
  const context = { draft, macros, defaults: defaultsOf(root, ledger), ports, startPort: firstPort };
  if (startPort !== undefined)
    ledger.change(startPort, "SIR gives each engine a free port, and puts it in for the same PORT.");
  ledger.carry(root.get("macros"));
  for (const [id, field] of models.fields) addModel(id, field, context);
  peers(root.below("peers"), macros, draft);
  selectors(root.below("selectors"), draft);
  profiles(draft);
  startup(draft);
  routing(draft);
  logging(draft);
  withoutCounterpart(root, ledger);
  const account = ledger.close(nearestKey);
  remarks(draft);
  return {
    ...account,
    text: textOfDraft(draft, fileName, port),
    models: [...draft.models.keys()],
    remarks: draft.remarks,
  };
}

function defaultsOf(root: Section, ledger: Ledger): Defaults {
  const ttl = root.get("globalTTL");
  const health = root.get("healthCheckTimeout");
  const unload = root.get("unloadTimeout");
  const [ttlSeconds, healthSeconds, unloadSeconds] = [ttl, health, unload].map((field) => numberOf(field, ledger));
  ledger.carry(ttl);
  if (health !== undefined) {
    ledger.change(
      health,
      "became loadTimeoutSeconds of each model. A first load has firstLoadTimeoutSeconds (two hours); a stop has its own limit.",
    );
  }
  if (unload !== undefined && (unloadSeconds ?? 0) > LONGEST_GRACE_SECONDS) {
    ledger.change(unload, `written as stopGraceSeconds: ${LONGEST_GRACE_SECONDS}, the longest there is.`);
  }
  ledger.carry(unload);
  return {
    ttlSeconds: ttlSeconds ?? 0,
    loadTimeoutSeconds: healthSeconds == null ? null : bounded(healthSeconds, LEAST_LOAD_SECONDS),
    stopGraceSeconds: unloadSeconds == null ? null : bounded(unloadSeconds, 0, LONGEST_GRACE_SECONDS),
  };
}

function startup(draft: Draft): void {
  const preload = draft.root.below("hooks").below("on_startup").get("preload");
  if (preload === undefined) return;
  const names = textsOf(preload);
  const unknown = names.filter((name) => draft.find(name) === undefined);
  for (const name of names) {
    const model = draft.find(name);
    if (model?.usesDevice) model.preload = true;
  }
  if (unknown.length === 0) draft.ledger.carry(preload);
  else draft.ledger.change(preload, `${unknown.join(", ")}: no such model here; the others are loaded at the start.`);
}

const LEVELS = ["debug", "info", "warn", "error"];

function logging(draft: Draft): void {
  const field = draft.root.get("logLevel");
  const level = textOf(field);
  if (field === undefined) return;
  if (level === null || !LEVELS.includes(level))
    draft.ledger.leave(field, `${level} is no level here: ${LEVELS.join(", ")}.`);
  else {
    if (level !== "info") draft.logLevel = level;
    draft.ledger.carry(field);
  }
}

/** Top-level keys that SIR has nothing for, each with why. */
const WITHOUT: Readonly<Record<string, string>> = {
  logTimeFormat: "SIR's log lines are JSON with milliseconds.",
  logToStdout: "SIR logs to standard error; what an engine says: sir models logs NAME.",
  metricsMaxInMemory: "metrics are for Prometheus at /metrics, jobs are in the store.",
  captureBuffer: "bodies are stored for jobs alone, and for as long as jobs.resultTtlSeconds says.",
  store: "SIR's own store is store.url; it holds every job.",
  ui: "SIR's dashboard has nothing to set.",
  performance: "SIR does not watch the machine; the node and GPU exporters of Prometheus do.",
  upstream: "SIR has no way around the queue to an engine.",
  tailcat: "SIR listens on one address; put a tunnel before it.",
  apiKeys: "not copied: keys are not written into files. Make new ones: sir keys new NAME.",
};

function withoutCounterpart(root: Section, ledger: Ledger): void {
  for (const [key, why] of Object.entries(WITHOUT)) {
    const field = root.get(key);
    if (field !== undefined) ledger.leave(field, why);
  }
  switchedOff(
    root.get("sendLoadingState"),
    "place and loading come in receipts and as comments in streams, never as text of the answer.",
    ledger,
  );
  switchedOff(root.get("includeAliasesInList"), "SIR lists models, with their aliases beside them.", ledger);
}

function remarks(draft: Draft): void {
  const written = [...draft.models.values()].filter(({ usesDevice }) => usesDevice);
  const silent = written.filter(
    ({ name }) => draft.root.below("models").below(name).get("concurrencyLimit") === undefined,
  );
  if (silent.length > 0) {
    const count = `${silent.length} model${silent.length === 1 ? " has" : "s have"}`;
    draft.remarks.push(
      `${count} no concurrencyLimit, which means 10 in llama-swap: written out, or less where the command says so.`,
    );
  }
  draft.remarks.push(
    "No job waits for ever here: after scheduler.maxWaitSeconds its model is loaded. llama-swap has no such bound.",
  );
  if (written.some(({ memoryGiB }) => memoryGiB !== null)) {
    draft.remarks.push(
      "What may be loaded together is said as memory: one place each, and neverTogether. Better: give each model its real memoryGiB and the device its own, and delete neverTogether.",
    );
  }
}

const TOP_KEYS = [
  ...Object.keys(WITHOUT),
  ...["healthCheckTimeout", "globalTTL", "unloadTimeout", "startPort", "macros", "models", "peers", "selectors"],
  ...["profiles", "hooks", "routing", "groups", "matrix", "logLevel", "sendLoadingState", "includeAliasesInList"],
];
const MODEL_KEYS = [
  ...["cmd", "cmdStop", "proxy", "env", "checkEndpoint", "ttl", "unloadTimeout", "useModelName", "aliases", "unlisted"],
  ...["name", "description", "metadata", "capabilities", "concurrencyLimit", "filters", "timeouts", "compat", "macros"],
  "sendLoadingState",
];

function nearestKey(path: Path): string | null {
  if (path.length === 1) return closest(path[0] ?? "", TOP_KEYS);
  return path.length === 3 && path[0] === "models" ? closest(path[2] ?? "", MODEL_KEYS) : null;
}

function textOfDraft(draft: Draft, fileName: string, port: number): string {
  const models = [...draft.models.values()];
  const loading = models.filter(({ usesDevice }) => usesDevice);
  const sum = loading.length * LOAD_GUESS_SECONDS;
  const maxWaitSeconds = Math.max(120, Math.ceil((sum * 1.5) / 60) * 60);
  const ceiling = `${GUESS}: no job waits longer before its model must be loaded; more than all loads together, at ${LOAD_GUESS_SECONDS} s each.`;
  const rules = Object.entries(draft.scheduler).map(([key, value]) => entry(key, value));
  const device = draft.places > 1 ? [placesEntry(draft.places)] : [];
  const taken = port === USUAL_PORT ? [] : [`${USUAL_PORT} is taken on this machine, so ${port}.`];
  const log = draft.logLevel === null ? [] : [entry("log", block({ level: draft.logLevel }))];
  return configText({
    head: [
      `Taken over from llama-swap's ${fileName} by \`sir import llama-swap\`, which printed what was changed and left out.`,
      "`npx sir doctor` checks this file (--defaults lists every key there is), `npx sir serve` runs it.",
    ],
    prelude: draft.usesEnvironment ? ENV_PRELUDE : [],
    sections: [
      entry(
        "server",
        block({ host: "127.0.0.1", port }),
        ...taken,
        "llama-swap listens on 8080 unless told otherwise.",
      ),
      entry("store", block({ url: "sqlite:./data/sir.db" })),
      ...log,
      entry("scheduler", new Block([entry("maxWaitSeconds", maxWaitSeconds, ceiling), ...rules])),
      entry("devices", new Block([entry("gpu0", new Block(device))])),
      entry("models", new Block(models.map(modelEntry))),
    ],
  });
}

const placesEntry = (places: number): Entry =>
  entry(
    "memoryGiB",
    places,
    `${GUESS}: places, not GiB: so many models at once. Better: the device's real memory, and each model's own.`,
  );

function modelEntry(model: ModelDraft): Entry {
  const fields = block({
    label: model.label ?? undefined,
    aliases: model.aliases.length === 0 ? undefined : model.aliases,
    upstreamName: model.upstreamName ?? undefined,
    concurrency: model.concurrency,
    memoryGiB: model.memoryGiB ?? undefined,
    pinned: model.pinned || undefined,
    preload: model.preload || undefined,
    unloadAfterSeconds: model.unloadAfterSeconds ?? undefined,
    loadTimeoutSeconds: model.loadTimeoutSeconds ?? undefined,
    firstByteTimeoutSeconds: model.firstByteTimeoutSeconds ?? undefined,
    backend: block(model.backend),
  });
  return entry(model.name, fields, ...model.notes.filter((note) => note.trim() !== ""));
}
