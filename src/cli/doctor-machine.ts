// What `sir doctor` says about the machine: guesses that nobody has looked at, memory that is not there, servers that are
// to load models and do not answer or do not have them, programs that are not found.

import { existsSync, readFileSync } from "node:fs";
import { basename, delimiter, isAbsolute, join } from "node:path";
import { GUESS } from "../config/config-text.ts";
import type { ResolvedConfig } from "../config/resolved.ts";
import { findDevices } from "../discovery/devices.ts";
import { findEngines } from "../discovery/engine-search.ts";
import { type FoundDevice, TITLES } from "../discovery/found.ts";
import { PROBE_MS, type Surroundings } from "../discovery/surroundings.ts";
import { type Check, fault, ok, warn } from "./check.ts";

const MOST_LINES = 12;
/** Rounding, and what a driver keeps for itself. */
const SLACK_GIB = 0.5;

export function checkGuesses({ file }: ResolvedConfig): Check[] {
  if (file === null) return [];
  const lines = readFileSync(file, "utf8").split("\n");
  const marked = lines.flatMap((line, at) => (line.includes(`// ${GUESS}`) ? [at + 1] : []));
  if (marked.length === 0) return [];
  const shown = marked.slice(0, MOST_LINES).join(", ");
  const more = marked.length > MOST_LINES ? ` and ${marked.length - MOST_LINES} more` : "";
  const text = `${basename(file)} has ${marked.length} guess${marked.length === 1 ? "" : "es"}: line${marked.length === 1 ? "" : "s"} ${shown}${more}.`;
  return [warn("guesses", text, `Look at each, correct it, and take the word ${GUESS} away.`)];
}

/** Nothing is asked of a machine whose models are all mocks. */
export async function checkMachine(config: ResolvedConfig, surroundings: Surroundings): Promise<Check[]> {
  if (config.backends.every(({ driver }) => driver.name === "mock")) return [];
  const [memory, servers] = await Promise.all([checkMemory(config, surroundings), checkServers(config, surroundings)]);
  return [...memory, ...servers, ...checkPrograms(config, surroundings)];
}

async function checkMemory({ engine, backends }: ResolvedConfig, surroundings: Surroundings): Promise<Check[]> {
  if (!backends.some(({ driver }) => driver.usesDevice)) return [];
  const seen = await findDevices(surroundings);
  if (seen.length === 0) return [ok("devices", "no GPU is seen from here, so memory is taken as it is written")];
  const told = engine.devices.filter(({ memoryGiB }) => memoryGiB !== null);
  const wanted = told.reduce((sum, { memoryGiB }) => sum + (memoryGiB ?? 0), 0);
  const names = seen.map(seenText).join(", ");
  if (told.length === 0) return [ok("devices", `seen: ${names}; no memory is written, so one model at a time`)];
  const [total, spare] = [sumOf(seen, "totalGiB"), sumOf(seen, "offeredGiB")];
  if (total === null || spare === null) return [ok("devices", `seen: ${names}`)];
  const written = `${wanted} GiB ${told.length === 1 ? "is" : "are"} written for ${told.map(({ id }) => id).join(", ")}`;
  if (wanted > total + SLACK_GIB) {
    return [
      warn("devices", `${written}, and ${names} ${seen.length === 1 ? "is" : "are"} there.`, `Write at most ${spare}.`),
    ];
  }
  const unified = seen.some((device) => device.unified);
  if (unified && wanted > spare + SLACK_GIB) {
    const text = `${written} of ${names}, which the system needs a part of.`;
    return [warn("devices", text, `Write at most ${spare}: memory is shared here, and nvidia-smi does not see it.`)];
  }
  return [ok("devices", `seen: ${names}; ${written}`)];
}

const seenText = ({ name, totalGiB, unified }: FoundDevice): string =>
  `${name}${totalGiB === null ? "" : ` with ${totalGiB.toFixed(1)} GiB${unified ? " unified" : ""}`}`;

function sumOf(devices: readonly FoundDevice[], key: "totalGiB" | "offeredGiB"): number | null {
  const sizes = devices.map((device) => device[key]);
  return sizes.some((size) => size === null) ? null : sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0);
}

const SERVERS = ["ollama", "lmstudio", "llama-server", "llama-swap"];

async function checkServers({ backends }: ResolvedConfig, surroundings: Surroundings): Promise<Check[]> {
  const servers = backends.filter(({ driver }) => SERVERS.includes(driver.name));
  const checks = await Promise.all(
    servers.map(async ({ driver, members }) => {
      const origin = originOf(members[0]?.options);
      if (origin === null) return [];
      const title = TITLES[driver.name] ?? driver.name;
      const { engines, strangers } = await findEngines([origin], surroundings);
      const id = members.length === 1 ? (members[0]?.spec.name ?? driver.name) : driver.name;
      const [engine] = engines;
      if (engine === undefined && strangers.length === 0) {
        return [fault(id, `${title} at ${origin} does not answer.`, "Start it, or correct backend.baseUrl.")];
      }
      if (engine === undefined && strangers.every(({ status }) => status === 0)) {
        return [
          warn(id, `${title} at ${origin} did not answer within ${PROBE_MS / 1_000} s.`, "See whether it is well."),
        ];
      }
      if (engine?.kind !== driver.name) {
        const who = engine === undefined ? "something else" : (TITLES[engine.kind] ?? engine.kind);
        // It may ask for a key, which is not sent for a look.
        return [warn(id, `${who} answers at ${origin}, where ${title} is expected.`, "See what listens there.")];
      }
      const names = engine.models.map(({ name }) => name);
      const missing = members.filter(({ spec }) => !isListed(spec.upstreamName ?? spec.name, names));
      if (missing.length === 0) return [ok(id, `${title} at ${origin} answers, and has ${count(members.length)}`)];
      return missing.map(({ spec }) => {
        const name = spec.upstreamName ?? spec.name;
        const pull = driver.name === "ollama" ? `Run "ollama pull ${name}", or` : "Give it the model, or";
        return warn(spec.name, `${title} at ${origin} has no model ${name}.`, `${pull} correct upstreamName.`);
      });
    }),
  );
  return checks.flat();
}

/** A name without a tag stands for its latest. */
const isListed = (name: string, names: readonly string[]): boolean =>
  names.includes(name) || names.includes(`${name}:latest`);

const count = (models: number): string => (models === 1 ? "the model" : `all ${models} models`);

function originOf(options: unknown): string | null {
  const url = typeof options === "object" && options !== null && "baseUrl" in options ? options.baseUrl : null;
  return typeof url === "string" ? new URL(url).origin : null;
}

function checkPrograms({ backends }: ResolvedConfig, { environment }: Surroundings): Check[] {
  const started = backends.filter(({ driver }) => driver.name === "process" || driver.name === "vllm-sleep");
  const folders = (environment["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  return started.flatMap(({ members }) =>
    members.flatMap(({ spec, options }) => {
      const program = programOf(options);
      if (program === null || isThere(program, folders)) return [];
      const where = program.includes("/") ? "is not there" : "is not on the PATH of this user";
      return [
        warn(
          spec.name,
          `its program ${program} ${where}.`,
          "Install it, or write its whole path into backend.command.",
        ),
      ];
    }),
  );
}

function programOf(options: unknown): string | null {
  const command = typeof options === "object" && options !== null && "command" in options ? options.command : null;
  const program: unknown = Array.isArray(command) ? command[0] : null;
  return typeof program === "string" ? program : null;
}

function isThere(program: string, folders: readonly string[]): boolean {
  if (isAbsolute(program)) return existsSync(program);
  // Relative to a folder that is not known here.
  if (program.includes("/")) return true;
  return folders.length === 0 || folders.some((folder) => existsSync(join(folder, program)));
}
