// What must hold between keys, in words. `refused` starts nothing; `warnings` are said and no more.

import type { DeviceSpec, ModelSpec } from "../domain/model.ts";
import type { GuardSettings } from "../scheduler/policy.ts";
import { closest } from "./closest.ts";
import type { Problem } from "./problem.ts";
import { pathText } from "./problem.ts";
import type { ConfigDocument } from "./schema.ts";

export interface Findings {
  readonly refused: readonly Problem[];
  readonly warnings: readonly string[];
}

/** Distance between the anchors of two bands. */
const BAND_SPACING = 100;
/** Callers inside one band are told apart by +0, +1 and +2. */
const LARGEST_OFFSET = 2;

interface Checked {
  readonly document: ConfigDocument;
  readonly models: readonly ModelSpec[];
  readonly devices: readonly DeviceSpec[];
  readonly guards: GuardSettings;
}

export function check(config: Checked): Findings {
  const refused = [
    ...names(config.document),
    ...deviceNames(config.document, config.devices),
    ...lease(config.document),
    ...ceiling(config),
    ...memory(config.models, config.devices),
    ...bandSpacing(config.document),
    ...apart(config.document),
    ...webhookUrls(config.document),
    ...sameKeys(config.document),
  ];
  return { refused, warnings: [...ceilingWarnings(config), ...modelWarnings(config), ...openHost(config.document)] };
}

const ofModel = (model: string, key: string): string => pathText(["models", model, key]);
const inSeconds = (ms: number): string => `${ms / 1000} s`;

function names(document: ConfigDocument): Problem[] {
  const owner = new Map(Object.keys(document.models).map((model) => [model, model]));
  const problems: Problem[] = [];
  if (owner.size === 0) {
    problems.push({ path: "models", text: "is empty.", mend: "Configure at least one model." });
  }
  for (const [model, { aliases }] of Object.entries(document.models)) {
    for (const alias of aliases) {
      const taken = owner.get(alias);
      if (taken === undefined) owner.set(alias, model);
      else {
        const text = `"${alias}" is already a name of the model "${taken}".`;
        problems.push({ path: ofModel(model, "aliases"), text, mend: "Names and aliases must be unique." });
      }
    }
  }
  return problems;
}

function deviceNames(document: ConfigDocument, devices: readonly DeviceSpec[]): Problem[] {
  const known = devices.map((device) => String(device.id));
  return Object.entries(document.models).flatMap(([model, { device }]) =>
    [device ?? []].flat().flatMap((wanted) => {
      if (known.includes(wanted)) return [];
      const text = `"${wanted}" is not a declared device.`;
      return [
        { path: ofModel(model, "device"), text, mend: `Declare it under devices; declared: ${known.join(", ")}.` },
      ];
    }),
  );
}

function lease({ jobs }: ConfigDocument): Problem[] {
  if (jobs.leaseSeconds > jobs.sweepSeconds) return [];
  const text = `${jobs.leaseSeconds} s is not longer than jobs.sweepSeconds (${jobs.sweepSeconds} s), so every lease would lapse.`;
  return [{ path: "jobs.leaseSeconds", text, mend: "Make the lease longer than the sweep." }];
}

function ceiling({ models, guards }: Checked): Problem[] {
  const { maxWaitMs, minResidencyMs } = guards;
  if (maxWaitMs === null) return [];
  const problems: Problem[] = [];
  if (minResidencyMs !== null && minResidencyMs >= maxWaitMs) {
    const text = `${inSeconds(minResidencyMs)} is not below scheduler.maxWaitSeconds (${inSeconds(maxWaitMs)}): the ceiling would always be broken.`;
    problems.push({ path: "scheduler.minResidencySeconds", text, mend: "Lower it, or raise the ceiling." });
  }
  for (const model of models) {
    if (!model.usesDevice || model.loadMs < maxWaitMs) continue;
    const text = `one load (${inSeconds(model.loadMs)}) takes as long as scheduler.maxWaitSeconds (${inSeconds(maxWaitMs)}) allows a job to wait.`;
    problems.push({ path: ofModel(model.name, "loadSeconds"), text, mend: "Raise scheduler.maxWaitSeconds above it." });
  }
  return problems;
}

function memory(models: readonly ModelSpec[], devices: readonly DeviceSpec[]): Problem[] {
  const sizes = new Map(devices.map((device) => [device.id, device.memoryGiB]));
  return models.flatMap((model) => {
    const { memoryGiB } = model;
    if (!model.usesDevice || memoryGiB === null || model.devices.length === 0) return [];
    const size = (device: DeviceSpec["id"]): number => sizes.get(device) ?? Number.POSITIVE_INFINITY;
    if (model.across === true) return group(model, memoryGiB / model.devices.length, size);
    if (model.devices.some((device) => size(device) >= memoryGiB)) return [];
    const seen = model.devices.map((device) => `${device} ${sizes.get(device)} GiB`).join(", ");
    const text = `${memoryGiB} GiB is more than any device it may use has (${seen}).`;
    return [{ path: ofModel(model.name, "memoryGiB"), text, mend: "Lower it, or give it a larger device." }];
  });
}

function group(model: ModelSpec, shareGiB: number, size: (device: DeviceSpec["id"]) => number): Problem[] {
  const small = model.devices.find((device) => size(device) < shareGiB);
  if (small === undefined) return [];
  const text = `${model.memoryGiB} GiB over ${model.devices.join(", ")} is ${shareGiB} GiB on each, and ${small} has ${size(small)} GiB.`;
  return [
    { path: ofModel(model.name, "memoryGiB"), text, mend: "Lower it, or spread it over more or larger devices." },
  ];
}

/** Sets of models name models, not aliases: they are compared with the keys of `models`. */
function apart({ scheduler, models }: ConfigDocument): Problem[] {
  const known = Object.keys(models);
  return scheduler.neverTogether.flatMap((set, i) =>
    set.flatMap((name) => {
      if (known.includes(name)) return [];
      const near = closest(name, known);
      const mend = near === null ? `Use the names of models: ${known.join(", ")}.` : `Did you mean "${near}"?`;
      return [{ path: pathText(["scheduler", "neverTogether", i]), text: `"${name}" is not a model.`, mend }];
    }),
  );
}

/** Affinity may reorder inside a band; it must never lift a job across one. */
function bandSpacing({ scheduler }: ConfigDocument): Problem[] {
  const bonus = scheduler.swapAffinityBonus ?? 0;
  if (bonus + LARGEST_OFFSET < BAND_SPACING) return [];
  const text = `the band spacing ${BAND_SPACING} must exceed the largest offset inside a band (${LARGEST_OFFSET}) plus swapAffinityBonus (${bonus}).`;
  return [{ path: "scheduler.swapAffinityBonus", text, mend: `Use at most ${BAND_SPACING - LARGEST_OFFSET - 1}.` }];
}

function ceilingWarnings({ document, models, guards }: Checked): string[] {
  const { maxWaitMs } = guards;
  if (maxWaitMs === null) return [];
  const warnings: string[] = [];
  if (document.jobs.leaseSeconds * 1000 >= maxWaitMs) {
    warnings.push(
      `jobs.leaseSeconds (${document.jobs.leaseSeconds} s) is at or above scheduler.maxWaitSeconds (${inSeconds(maxWaitMs)}): an abandoned job may still force a swap.`,
    );
  }
  const loading = models.filter((model) => model.usesDevice);
  const sumMs = loading.reduce((sum, model) => sum + model.loadMs, 0);
  if (loading.length > 1 && sumMs >= maxWaitMs) {
    warnings.push(
      `The loads of all models together (${inSeconds(sumMs)}) reach scheduler.maxWaitSeconds (${inSeconds(maxWaitMs)}): when every model waits, the ceiling cannot be kept.`,
    );
  }
  return warnings;
}

function modelWarnings({ document, models, devices }: Checked): string[] {
  const warnings: string[] = [];
  for (const model of models) {
    const { device } = document.models[model.name] ?? {};
    if (!model.usesDevice && device !== undefined) {
      warnings.push(`${ofModel(model.name, "device")} has no effect: the model is always on elsewhere.`);
    }
  }
  for (const { id, memoryGiB } of devices) {
    const stays = (model: ModelSpec): boolean => model.across === true || model.devices.length === 1;
    const pinned = models.filter((model) => model.pinned && stays(model) && model.devices.includes(id));
    if (pinned.length > 1 && !together(pinned, memoryGiB)) {
      const room = memoryGiB === null ? "holds one at a time" : `has ${memoryGiB} GiB and not room for all of them`;
      warnings.push(
        `${pinned.length} models are pinned to ${id}, which ${room}: the first stays, and some of the others never load.`,
      );
    }
  }
  return warnings;
}

/** What they claim of one device fits on it. */
function together(models: readonly ModelSpec[], memoryGiB: number | null): boolean {
  const share = (each: ModelSpec): number =>
    (each.memoryGiB ?? Number.POSITIVE_INFINITY) / (each.across === true ? each.devices.length : 1);
  return memoryGiB !== null && models.reduce((sum, each) => sum + share(each), 0) <= memoryGiB;
}

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|::1|\[::1\])$/;

function openHost({ server, keys }: ConfigDocument): string[] {
  if (LOOPBACK.test(server.host) || Object.keys(keys).length > 0) return [];
  return [
    `server.host ${server.host} is open to the network, and there are no keys: anybody who reaches it may use it. \`sir keys new NAME\` makes one.`,
  ];
}

/** One key under two names would be two callers. */
function sameKeys({ keys }: ConfigDocument): Problem[] {
  const owner = new Map<string, string>();
  return Object.entries(keys).flatMap(([key, { sha256 }]): Problem[] => {
    const first = owner.get(sha256);
    owner.set(sha256, first ?? key);
    if (first === undefined) return [];
    const path = pathText(["keys", key, "sha256"]);
    return [{ path, text: `is the same key as "${first}".`, mend: "Make each caller a key of its own." }];
  });
}

/** One endpoint, one entry: an event is sent to an address once. */
function webhookUrls({ webhooks }: ConfigDocument): Problem[] {
  const seen = new Set<string>();
  return webhooks.flatMap(({ url, allowPrivate }, at): Problem[] => {
    const path = pathText(["webhooks", at, "url"]);
    const twice = seen.has(url);
    seen.add(url);
    if (twice) return [{ path, text: "stands in an earlier entry too.", mend: "Put its events into one entry." }];
    if (url.startsWith("https:") || allowPrivate) return [];
    return [{ path, text: "is not https.", mend: "Use https, or set allowPrivate where the way there is trusted." }];
  });
}
