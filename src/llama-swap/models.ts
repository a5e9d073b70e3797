// One model of llama-swap as a model with the `process` driver: its command as words, its server's address, its limits.

import { Block, entry } from "../config/config-text.ts";
import { blankModel, type Defaults, type Draft, isName, type ModelDraft } from "./draft.ts";
import { environmentOf, withoutKey } from "./environment.ts";
import { aliases, filters, leftOutOf, unlistedOf } from "./model-names.ts";
import { bounded, numberOf, textOf } from "./reading.ts";
import type { Field, Section } from "./source.ts";
import { flagNumber, Macros, namesEnvironment, splitWords, withoutComments, written } from "./words.ts";

// biome-ignore lint/suspicious/noTemplateCurlyInString: what stands in llama-swap's files
const PORT = "${PORT}";
const USUAL_CONCURRENCY = 10;
const MOST_CONCURRENCY = 10_000;
const LONGEST_GRACE_SECONDS = 60;
const NO_LIMIT_SECONDS = 14_400;

export interface Context {
  readonly draft: Draft;
  readonly macros: Section;
  readonly defaults: Defaults;
  /** What llama-swap would put in for the port, for each model whose command asks for it. */
  readonly ports: ReadonlyMap<string, number>;
  readonly startPort: number;
}

/** Ports as llama-swap hands them out: to those that ask, in the order of their ids. */
export function portsOf(models: Section, macros: Section, startPort: number): ReadonlyMap<string, number> {
  const asking = [...models.fields].filter(([id, { section }]) => {
    if (section === null) return false;
    const own = new Macros(macros, section.below("macros"), id);
    return own.fill(withoutComments(textOf(section.get("cmd")) ?? "")).includes(PORT);
  });
  const ids = asking.map(([id]) => id).sort();
  return new Map(ids.map((id, at) => [id, startPort + at]));
}

export function addModel(id: string, field: Field, context: Context): void {
  const { draft, defaults } = context;
  const { ledger } = draft;
  const own = field.section;
  if (own === null) {
    ledger.leave(field, "has no keys: a model needs at least cmd.");
    return;
  }
  if (!isName(id)) {
    ledger.leave(field, "its id is no name that SIR takes.");
    return;
  }
  const macros = new Macros(context.macros, own.below("macros"), id);
  const cmd = own.get("cmd");
  const split = cmd === undefined ? [] : splitWords(macros.fill(withoutComments(textOf(cmd) ?? "")));
  const words = split?.filter((word) => word !== "") ?? null;
  if (cmd !== undefined && words !== null && split !== null && words.length < split.length) {
    ledger.change(cmd, "an empty word in it is not kept: a command has none here.");
  }
  if (words === null || words.length === 0) {
    const why = cmd === undefined ? "has no cmd" : words === null ? "has a cmd with an open quote" : "has an empty cmd";
    ledger.leave(field, `${why}, so there is nothing to start. llama-swap refuses it too.`);
    return;
  }
  const backend = backendOf({ id, own, macros, words, context });
  const model = blankModel(id, backend, true);
  draft.add(model);
  judgeCommand(cmd, words, draft);
  concurrencyOf(model, own.get("concurrencyLimit"), words, draft);
  model.loadTimeoutSeconds = defaults.loadTimeoutSeconds;
  model.unloadAfterSeconds = ttlOf(own.get("ttl"), macros, context);
  naming(model, own, macros, draft);
  timeouts(model, own.below("timeouts"), draft);
  ledger.carry(own.get("macros"));
  for (const name of macros.unknown) {
    draft.remarks.push(`models.${id}: \${${name}} is no macro, and stays in the text as it is.`);
  }
}

interface Making {
  readonly id: string;
  readonly own: Section;
  readonly macros: Macros;
  readonly words: readonly string[];
  readonly context: Context;
}

function backendOf(making: Making): ModelDraft["backend"] {
  const { own, macros, words, context } = making;
  const { draft, defaults } = context;
  const address = addressOf(making);
  const { words: command, key, moved } = withoutKey(making.id, words.map(address.resolved));
  const cmd = own.get("cmd");
  if (cmd !== undefined && moved !== null) {
    draft.ledger.change(cmd, `its --api-key is not copied: put it into the environment of the router as ${moved}.`);
  }
  const env = environmentOf(own.get("env"), macros, draft, address.resolved);
  if ([...command, ...Object.values(env)].some(namesEnvironment)) draft.usesEnvironment = true;
  const variables = Object.entries(env).map(([name, value]) => entry(name, written(value)));
  const grace = graceOf(own.get("unloadTimeout"), defaults, draft);
  return {
    driver: "process",
    command: command.map(written),
    host: address.host,
    port: address.port,
    healthPath: healthOf(own.get("checkEndpoint"), macros, draft),
    // llama-swap asks no engine whether it lists the model.
    listed: false,
    apiKey: key === null ? undefined : written(key),
    env: variables.length === 0 ? undefined : new Block(variables),
    stopGraceSeconds: grace ?? undefined,
  };
}

interface Address {
  readonly host: string | undefined;
  readonly port: number | undefined;
  /** The port's number put in where SIR would not put in the same. */
  resolved(word: string): string;
}

function addressOf({ id, own, macros, words, context }: Making): Address {
  const { draft, ports, startPort } = context;
  const proxy = own.get("proxy");
  const given = macros.fill(textOf(proxy) ?? "");
  const asks = words.some((word) => word.includes(PORT));
  const number = String(ports.get(id) ?? startPort);
  const same = (word: string): string => word;
  const url = addressIn(given);
  if (proxy !== undefined && url === null) draft.ledger.leave(proxy, `"${given}" is no address.`);
  if (proxy !== undefined && url !== null) judgeProxy(proxy, url, draft);
  const host = url === null || isLoopback(url.hostname) ? undefined : url.hostname;
  if (url === null || given.includes(PORT)) {
    if (asks) return { host, port: undefined, resolved: same };
    draft.remarks.push(
      `models.${id}: its command is not told a port; ${number} is written as backend.port. Correct it.`,
    );
    return { host, port: Number(number), resolved: same };
  }
  const port = Number(url.port) || (url.protocol === "https:" ? 443 : 80);
  if (asks)
    draft.remarks.push(
      `models.${id}: its command is told port ${number} and it is asked on ${port}, as in llama-swap.`,
    );
  // Two ports: the one that the command is told, and the one that is asked.
  return { host, port, resolved: asks ? (word) => word.replaceAll(PORT, number) : same };
}

/** Null: it is none over HTTP. */
function addressIn(text: string): URL | null {
  const whole = text.replaceAll(PORT, "1");
  const url = URL.canParse(whole) ? new URL(whole) : null;
  return url !== null && /^https?:$/.test(url.protocol) && url.hostname !== "" ? url : null;
}

const isLoopback = (host: string): boolean => host === "localhost" || host === "127.0.0.1" || host === "[::1]";

function judgeProxy(proxy: Field, url: URL, { ledger }: Draft): void {
  if (url.protocol !== "http:") ledger.leave(proxy, "an engine that is started is asked over plain http.");
  else if (url.pathname !== "/")
    ledger.change(proxy, `the path ${url.pathname} is not kept: backend has a host and a port.`);
  else ledger.carry(proxy);
}

function judgeCommand(cmd: Field | undefined, words: readonly string[], { ledger }: Draft): void {
  if (cmd === undefined) return;
  const [program = "", verb] = words;
  if (!/(^|\/)(docker|podman)$/.test(program) || verb !== "run") {
    ledger.carry(cmd);
    return;
  }
  const detached = words.some((word) => word === "-d" || word === "--detach");
  const loose = detached ? " Take -d away: SIR needs the command to stay in the foreground." : "";
  ledger.change(
    cmd,
    `kept as a process that is started; the driver vllm-docker can make and watch the container itself.${loose}`,
  );
}

function healthOf(field: Field | undefined, macros: Macros, { ledger }: Draft): string | undefined {
  if (field === undefined) return undefined;
  const path = macros.fill(textOf(field) ?? "");
  if (path === "none") {
    ledger.change(field, "an engine counts as up when /v1/models answers: there is no start without a look.");
    return "/v1/models";
  }
  if (!path.startsWith("/")) {
    ledger.change(field, `written as /${path}: a path begins with a slash.`);
    return `/${path}`;
  }
  ledger.carry(field);
  return path === "/health" ? undefined : path;
}

function graceOf(field: Field | undefined, { stopGraceSeconds }: Defaults, { ledger }: Draft): number | null {
  const own = numberOf(field, ledger);
  if (own === null || own === 0) {
    ledger.carry(field);
    return stopGraceSeconds;
  }
  if (field !== undefined && own > LONGEST_GRACE_SECONDS) {
    ledger.change(field, `written as stopGraceSeconds: ${LONGEST_GRACE_SECONDS}, the longest there is.`);
  }
  ledger.carry(field);
  return bounded(own, 0, LONGEST_GRACE_SECONDS);
}

function concurrencyOf(model: ModelDraft, field: Field | undefined, words: readonly string[], draft: Draft): void {
  const given = numberOf(field, draft.ledger) ?? 0;
  const flags = flagNumber(words, ["--parallel", "-np", "--max-num-seqs", "--max-running-requests"]);
  const usual = bounded(flags ?? USUAL_CONCURRENCY, 1, USUAL_CONCURRENCY);
  model.concurrency = given > 0 ? bounded(Math.floor(given), 1, MOST_CONCURRENCY) : usual;
  if (field === undefined) return;
  const meaning = given > 0 ? "" : `0 means ${USUAL_CONCURRENCY} there; `;
  draft.ledger.change(
    field,
    `${meaning}written as concurrency: ${model.concurrency}. More than that waits its turn; llama-swap answers 429.`,
  );
}

function ttlOf(field: Field | undefined, macros: Macros, { draft, defaults }: Context): number | null {
  const own = numberOf(field, draft.ledger, (text) => macros.fill(text));
  draft.ledger.carry(field);
  const seconds = own === null || own < 0 ? defaults.ttlSeconds : own;
  return seconds > 0 ? bounded(seconds) : null;
}

function timeouts(model: ModelDraft, section: Section, { ledger }: Draft): void {
  const header = section.get("responseHeader");
  const seconds = numberOf(header, ledger);
  if (header !== undefined && seconds !== null) {
    model.firstByteTimeoutSeconds = seconds > 0 ? bounded(seconds) : NO_LIMIT_SECONDS;
    if (seconds > 0) ledger.carry(header);
    else
      ledger.change(
        header,
        `0 means no limit there; written as firstByteTimeoutSeconds: ${NO_LIMIT_SECONDS}, four hours.`,
      );
  }
  for (const field of section.fields.values()) {
    if (field !== header) ledger.leave(field, "SIR sets the limits of its own connections.");
  }
}

function naming(model: ModelDraft, own: Section, macros: Macros, draft: Draft): void {
  const { ledger } = draft;
  const upstream = textOf(own.get("useModelName"));
  const served = upstream === null ? "" : macros.fill(upstream);
  if (isName(served)) model.upstreamName = served;
  ledger.carry(own.get("useModelName"));
  const label = macros
    .fill(textOf(own.get("name")) ?? "")
    .replaceAll(/\p{Cc}+/gu, " ")
    .slice(0, 256)
    .trim();
  if (label !== "") model.label = label;
  ledger.carry(own.get("name"));
  const description = own.get("description");
  if (description !== undefined) {
    model.notes.push(macros.fill(textOf(description) ?? ""));
    ledger.change(description, "kept as a comment: SIR has no place that shows it.");
  }
  aliases(model, own.get("aliases"), macros, draft);
  filters(model, own.below("filters"), macros, draft);
  unlistedOf(own, draft);
  leftOutOf(own, draft);
}
