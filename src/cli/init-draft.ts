// From what was found to a configuration: which port, which device, which models, what was left alone and why.

import { Block, block, configText, type Entry, entry, GUESS } from "../config/config-text.ts";
import { type FoundContainer, type FoundDevice, type Machine, TITLES } from "../discovery/found.ts";
import type { OwnPort } from "../discovery/own-port.ts";
import { type Candidate, modelEntry, modelIn, modelOn } from "./init-models.ts";

export interface Skipped {
  readonly what: string;
  readonly why: string;
}

export interface Offer {
  readonly candidates: readonly Candidate[];
  readonly skipped: readonly Skipped[];
}

const LOADING_TENANTS = /ollama|llama-server|llama-swap|lm.?studio|lms$/i;

/** What models may claim of the device: what is offered, less what engines hold that are not told to let go. */
function deviceGiB(machine: Machine, managesVllm: boolean): number | null {
  const sizes = machine.devices.map(({ offeredGiB }) => offeredGiB);
  if (sizes.length === 0 || sizes.some((size) => size === null)) return null;
  const offered = sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0);
  return Math.max(0.5, Math.floor((offered - heldByOthers(machine, managesVllm)) * 2) / 2);
}

/** @param managesVllm vLLM's containers are started and stopped by the router, so what they hold is its to give */
function heldByOthers({ tenants }: Machine, managesVllm: boolean): number {
  return tenants
    .filter(({ process }) => !LOADING_TENANTS.test(process) && !(managesVllm && /vllm/i.test(process)))
    .reduce((sum, { usedGiB }) => sum + usedGiB, 0);
}

/** Containers that could be started and stopped: whoever is asked about them decides. */
export function manageable(machine: Machine): readonly FoundContainer[] {
  return machine.dockers
    .flatMap(({ containers }) => containers)
    .filter(({ engine, servedNames, name }) => engine === "vllm" && servedNames.length > 0 && name !== "");
}

/** @param managed names of containers that the router may start and stop */
export function offerOf(machine: Machine, managed: readonly string[]): Offer {
  const size = deviceGiB(machine, managed.length > 0);
  const all: Candidate[] = [];
  const skipped: Skipped[] = [];
  const containers = manageable(machine).filter(({ name }) => managed.includes(name));
  const replaced = new Set(containers.flatMap(({ hostPorts }) => hostPorts.map((port) => `http://127.0.0.1:${port}`)));
  for (const container of containers) {
    const [name = "", ...aliases] = container.servedNames;
    const slots = machine.engines.find(({ origin }) => replaced.has(origin))?.slots ?? null;
    all.push(modelIn(container, name, aliases, slots));
  }
  for (const engine of machine.engines) {
    if (engine.kind === "sir") {
      skipped.push({ what: engine.origin, why: "it is a router like this one" });
      continue;
    }
    if (replaced.has(engine.origin)) continue;
    for (const model of engine.models) {
      if (model.unfit !== null) skipped.push({ what: model.name, why: model.unfit });
      else all.push(modelOn(engine, model, size));
    }
  }
  return withoutTwins(all, [...skipped, ...unmanaged(machine, managed), ...strange(machine)]);
}

/** A name can be served by one engine: the first that was found keeps it. */
function withoutTwins(all: readonly Candidate[], skipped: readonly Skipped[]): Offer {
  const first = new Map<string, Candidate>();
  const twins: Skipped[] = [];
  for (const each of all) {
    const before = first.get(each.name);
    if (before === undefined) first.set(each.name, each);
    else twins.push({ what: `${each.name} (${each.where})`, why: `${before.where} has one of that name` });
  }
  const taken = new Set(first.keys());
  const candidates = [...first.values()].map((each) => {
    const aliases = each.aliases.filter((alias) => !taken.has(alias));
    for (const alias of aliases) taken.add(alias);
    return { ...each, aliases };
  });
  return { candidates, skipped: [...skipped, ...twins] };
}

function unmanaged(machine: Machine, managed: readonly string[]): Skipped[] {
  const able = manageable(machine).map(({ name }) => name);
  return machine.dockers
    .flatMap(({ containers }) => containers)
    .filter(({ name }) => !managed.includes(name))
    .map(({ name, engine, running, hostPorts }) => {
      if (machine.engines.some(({ origin }) => hostPorts.some((port) => origin === `http://127.0.0.1:${port}`))) {
        const more = able.includes(name) ? "; with --containers SIR may start and stop it" : "";
        return { what: `container ${name}`, why: `used as it runs${more}` };
      }
      if (!able.includes(name))
        return {
          what: `container ${name}`,
          why: `no driver starts and stops ${TITLES[engine] ?? engine} in a container`,
        };
      return {
        what: `container ${name}`,
        why: `${running ? "it runs" : "stopped"}; with --containers SIR may start and stop it`,
      };
    });
}

function strange({ strangers }: Machine): Skipped[] {
  return strangers.map(({ origin, status }) => ({
    what: origin,
    why:
      status === 401 || status === 403
        ? "it asks for a key; write its model down by hand, with backend.apiKey from the environment"
        : "what listens there is no engine that is known",
  }));
}

export interface Draft {
  readonly machine: Machine;
  readonly own: OwnPort;
  readonly models: readonly Candidate[];
  /** For the head of the file. */
  readonly version: string;
}

export function draftText({ machine, own, models, version }: Draft): string {
  const head = [
    `Written by \`sir init\` (${version}). Every number that is a guess is marked ${GUESS}: look at each, correct it, and take the mark away.`,
    "`npx sir doctor` checks this file (--defaults lists every key there is), `npx sir serve` runs it.",
  ];
  const sections = [
    entry("server", block({ host: "127.0.0.1", port: own.port }), ...portNotes(own)),
    entry("store", block({ url: "sqlite:./data/sir.db" })),
    ...schedulerSection(models),
    ...deviceSection(machine, models),
    entry("models", new Block(models.map(modelEntry))),
  ];
  return configText({ head, sections });
}

function portNotes({ port, held }: OwnPort): string[] {
  return held.length === 0
    ? []
    : [`${held.join(" and ")} ${held.length === 1 ? "is" : "are"} taken on this machine, so ${port}.`];
}

/** The ceiling must lie above every load, and can be kept only when it lies above all of them together. */
function schedulerSection(models: readonly Candidate[]): Entry[] {
  const loading = models.filter(({ usesDevice }) => usesDevice);
  if (loading.length === 0) return [];
  const sum = loading.reduce((all, { loadSeconds }) => all + loadSeconds, 0);
  const maxWaitSeconds = Math.max(120, Math.ceil((sum * 1.5) / 60) * 60);
  const note = `${GUESS}: no job should wait longer before its model must be loaded; more than all loads together (${sum} s).`;
  return [entry("scheduler", new Block([entry("maxWaitSeconds", maxWaitSeconds, note)]))];
}

function deviceSection(machine: Machine, models: readonly Candidate[]): Entry[] {
  const { devices } = machine;
  if (!models.some(({ usesDevice }) => usesDevice)) return [];
  const managesVllm = models.some(({ container }) => container !== null);
  const size = deviceGiB(machine, managesVllm);
  const id = devices.length > 1 ? "gpus" : "gpu0";
  const notes = devices.map((device) => deviceNote(device));
  if (devices.length === 0) notes.push("No GPU was found: one model at a time.");
  if (devices.length > 1)
    notes.push("Servers that place models by themselves see all of them as one pool, and so does this.");
  const held = heldByOthers(machine, managesVllm);
  const less = held === 0 ? "" : `, less ${held.toFixed(1)} GiB held by what is not told to let go`;
  const memory = size === null ? [] : [entry("memoryGiB", size, `${GUESS}: ${reserve(devices)}${less}.`)];
  return [entry("devices", new Block([entry(id, new Block(memory), ...notes)]))];
}

function deviceNote({ name, totalGiB, unified, notes }: FoundDevice): string {
  const size = totalGiB === null ? "its memory is not known" : `${totalGiB.toFixed(1)} GiB${unified ? " unified" : ""}`;
  return [`${name}, ${size}`, ...notes].join("; ").concat(".");
}

function reserve(devices: readonly FoundDevice[]): string {
  if (devices.some(({ unified }) => unified)) return "what the system has, less what it needs itself";
  return devices.length > 1 ? "all of them, less 1 GiB each" : "what it has, less 1 GiB";
}
