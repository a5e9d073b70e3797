// What must hold between keys, in words. `refused` starts nothing; `warnings` are said and no more.

import type { DeviceSpec, ModelSpec } from "../domain/model.ts";
import type { GuardSettings } from "../scheduler/policy.ts";
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
    const fits = model.devices.some((device) => (sizes.get(device) ?? Number.POSITIVE_INFINITY) >= memoryGiB);
    if (fits) return [];
    const seen = model.devices.map((device) => `${device} ${sizes.get(device)} GiB`).join(", ");
    const text = `${memoryGiB} GiB is more than any device it may use has (${seen}).`;
    return [{ path: ofModel(model.name, "memoryGiB"), text, mend: "Lower it, or give it a larger device." }];
  });
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
  for (const { id } of devices) {
    const pinned = models.filter((model) => model.pinned && model.devices.length === 1 && model.devices[0] === id);
    if (pinned.length > 1) {
      warnings.push(
        `${pinned.length} models are pinned to ${id}, which holds one at a time: the first stays, the others never load.`,
      );
    }
  }
  return warnings;
}

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|::1|\[::1\])$/;

function openHost({ server }: ConfigDocument): string[] {
  if (LOOPBACK.test(server.host)) return [];
  return [
    `server.host ${server.host} is open to the network, and there are no API keys yet: anybody who reaches it may use it.`,
  ];
}
