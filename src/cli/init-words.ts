// What a look at the machine found, in lines for people.

import type { FoundDevice, FoundDocker, FoundEngine, Machine } from "../discovery/found.ts";
import { ENGINE_KINDS, TITLES } from "../discovery/found.ts";
import type { Skipped } from "./init-draft.ts";
import { addressText, type Candidate, UNMOVED } from "./init-models.ts";

const NAME_WIDTH = 12;
const MOST_NAMES = 6;

const row = (name: string, text: string): string => `  ${name.padEnd(NAME_WIDTH)} ${text}`;

/** Breaks no quantity over two lines. */
const gib = (size: number): string => `${size >= 10 ? Math.round(size) : size.toFixed(1)}\u00a0GiB`;

export function foundLines(machine: Machine): string[] {
  const { devices, engines, dockers, shutDockers } = machine;
  const missing = ENGINE_KINDS.filter((kind) => !engines.some((engine) => engine.kind === kind));
  return [
    ...(devices.length === 0 ? [row("gpu", "none found: one model at a time")] : devices.map(deviceLine)),
    ...engines.map(engineLine),
    ...dockers.map(dockerLine),
    ...shutDockers.flatMap(({ dockerHost, why, mend }) => [
      row("docker", `${dockerHost}: ${why}`),
      row("", `mend: ${mend}`),
    ]),
    ...(missing.length === 0 ? [] : [row("not found", missing.map((kind) => TITLES[kind]).join(", "))]),
  ];
}

function deviceLine({ id, name, totalGiB, offeredGiB, unified, notes }: FoundDevice): string {
  const size = totalGiB === null ? "memory not known" : `${gib(totalGiB)}${unified ? " unified" : ""}`;
  const offered = offeredGiB === null ? [] : [`${gib(offeredGiB)} offered`];
  return row(id, `${name}, ${size} (${[...notes, ...offered].join("; ")})`);
}

function engineLine({ kind, version, origin, models, notes }: FoundEngine): string {
  const title = [...(version === null ? [] : [version]), `on ${addressText(origin)}`].join(" ");
  if (kind === "sir") return row(kind, `a router like this one ${title}`);
  const names = models.slice(0, MOST_NAMES).map(({ name, loadedGiB }) => {
    return loadedGiB === null ? name : `${name} (loaded, ${gib(loadedGiB)})`;
  });
  const more = models.length > MOST_NAMES ? ` and ${models.length - MOST_NAMES} more` : "";
  const count = `${models.length} model${models.length === 1 ? "" : "s"}`;
  const listed = models.length === 0 ? count : `${count}: ${names.join(", ")}${more}`;
  return row(kind, [`${title.padEnd(20)} ${listed}`, ...notes].join("; "));
}

function dockerLine({ kind, version, containers }: FoundDocker): string {
  const names = containers.map(({ name, running }) => `${name} (${running ? "running" : "stopped"})`);
  const count = `${names.length} engine container${names.length === 1 ? "" : "s"}`;
  return row(kind, `${version}, socket ok; ${count}${names.length === 0 ? "" : `: ${names.join(", ")}`}`);
}

export function portLines(port: number, held: readonly number[], engines: readonly FoundEngine[]): string[] {
  if (held.length === 0) return [];
  const holders = held.map((taken) => {
    const engine = engines.find(({ origin }) => addressText(origin) === `:${taken}`);
    if (engine === undefined) return `${taken} belongs to another program`;
    return `${taken} belongs to ${engine.kind === "openai" ? "an engine with OpenAI's API" : TITLES[engine.kind]}`;
  });
  return [`Port ${holders.join(", ")}. SIR will use ${port}.`];
}

/** Engines on this machine that go on holding their part of the GPU whatever the router decides. */
export function unmovedLines(candidates: readonly Candidate[]): string[] {
  const places = new Set(
    candidates.filter(({ backendNote }) => backendNote.startsWith(UNMOVED)).map(({ where }) => where),
  );
  return [...places].map((where) => row("not moved", `${where}: ${UNMOVED} The file says how to change that.`));
}

export function skippedLines(skipped: readonly Skipped[]): string[] {
  return skipped.map(({ what, why }) => row("left alone", `${what}: ${why}`));
}
