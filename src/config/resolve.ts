// From the checked document to what the running parts want.

import { BAND_WEIGHT } from "../domain/band.ts";
import type { CallerKey } from "../domain/caller-key.ts";
import type { CallerId, DeviceId, ModelName } from "../domain/ids.ts";
import { DEFAULT_POOL } from "../domain/ids.ts";
import type { DeviceSpec, ModelSpec } from "../domain/model.ts";
import type { EngineSettings, PreloadSettings } from "../engine/settings.ts";
import { type Endpoint, endpointId } from "../webhooks/endpoint.ts";
import type { BatchSettings, JobSettings, ServerSettings, SyncSettings } from "./resolved.ts";
import type { ConfigDocument, ModelDocument } from "./schema.ts";
import type { BoundScheduler } from "./schema-scheduler.ts";
import { toMs } from "./units.ts";

const orNull = (value: number | null): number | null => (value === null ? null : toMs(value));

export function serverSettings({ server }: ConfigDocument): ServerSettings {
  const { host, port, bodyLimitBytes } = server;
  return { host, port, bodyLimitBytes, shutdownMs: toMs(server.shutdownSeconds) };
}

export function syncSettings({ sync }: ConfigDocument): SyncSettings {
  return { holdMs: toMs(sync.holdSeconds), redirect: sync.redirect, orphanMs: toMs(sync.orphanSeconds) };
}

export function batchSettings({ batches }: ConfigDocument): BatchSettings {
  const { maxFileBytes, maxLines, fileTtlSeconds } = batches;
  return { maxFileBytes, maxLines, fileTtlMs: toMs(fileTtlSeconds) };
}

export function webhookEndpoints({ webhooks }: ConfigDocument): Endpoint[] {
  return webhooks.map(({ url, secret, events, allowPrivate }) => ({
    ...{ id: endpointId(url), url, label: new URL(url).host, secrets: [secret].flat(), events, allowPrivate },
  }));
}

export function callerKeys({ keys }: ConfigDocument): CallerKey[] {
  return Object.entries(keys).map(([name, { sha256, scopes }]) => ({ name: name as CallerId, sha256, scopes }));
}

export function jobSettings({ jobs }: ConfigDocument): JobSettings {
  return {
    leaseMs: toMs(jobs.leaseSeconds),
    sweepMs: toMs(jobs.sweepSeconds),
    resultTtlMs: toMs(jobs.resultTtlSeconds),
    readTtlMs: orNull(jobs.readTtlSeconds),
    maxAttempts: jobs.maxAttempts,
    maxInterruptions: jobs.maxInterruptions,
    maxQueued: jobs.maxQueued,
    maxStoredBytes: jobs.maxStoredBytes,
    cancelGraceMs: toMs(jobs.cancelGraceSeconds),
  };
}

/** With no devices configured there is one, `gpu0`, that holds one model at a time. */
export function deviceSpecs({ devices }: ConfigDocument): DeviceSpec[] {
  const named = Object.entries(devices ?? {});
  if (named.length === 0) return [{ id: "gpu0" as DeviceId, memoryGiB: null, memoryProbe: null }];
  return named.map(([id, { memoryGiB, memoryProbe }]) => ({ id: id as DeviceId, memoryGiB, memoryProbe }));
}

/** A model that names no device may use any that is large enough; when none is, all, so that the check can say so. */
function devicesOf(model: ModelDocument, devices: readonly DeviceSpec[]): readonly DeviceId[] {
  if (model.device !== undefined) return [...new Set([model.device].flat())] as DeviceId[];
  const { memoryGiB } = model;
  const fitting = devices.filter((device) => (device.memoryGiB ?? Number.POSITIVE_INFINITY) >= (memoryGiB ?? 0));
  return (fitting.length > 0 ? fitting : devices).map((device) => device.id);
}

export function modelSpec(
  name: string,
  model: ModelDocument,
  usesDevice: boolean,
  devices: readonly DeviceSpec[],
  neverTogether: readonly (readonly string[])[] = [],
): ModelSpec {
  const own = usesDevice ? devicesOf(model, devices) : [];
  const apartFrom = neverTogether
    .filter((set) => set.includes(name))
    .flatMap((set) => set.filter((other) => other !== name));
  return {
    name: name as ModelName,
    label: model.label ?? name,
    aliases: model.aliases,
    upstreamName: model.upstreamName ?? null,
    priority: model.priority,
    concurrency: model.concurrency,
    memoryGiB: usesDevice ? model.memoryGiB : null,
    loadMs: usesDevice ? toMs(model.loadSeconds) : 0,
    usesDevice,
    devices: own,
    ...(Array.isArray(model.device) && own.length > 1 ? { across: true } : {}),
    ...(usesDevice && apartFrom.length > 0 ? { apartFrom: [...new Set(apartFrom)] as ModelName[] } : {}),
    pinned: usesDevice && model.pinned,
    preload: usesDevice && model.preload,
    unloadAfterMs: orNull(model.unloadAfterSeconds),
    maxLoadFailures: model.maxLoadFailures,
    loadTimeoutMs: toMs(model.loadTimeoutSeconds),
    firstLoadTimeoutMs: toMs(model.firstLoadTimeoutSeconds),
    firstByteTimeoutMs: toMs(model.firstByteTimeoutSeconds),
    idleTimeoutMs: toMs(model.idleTimeoutSeconds),
    runTimeoutMs: toMs(model.runTimeoutSeconds),
    stallMs: toMs(model.stallSeconds),
    responses: model.responses,
  };
}

/** What a load second costs, in waiting seconds of a normal job. */
const PRICE = 0.25;

function preloadSettings({ scheduler }: ConfigDocument): PreloadSettings {
  const { preloading: mode, preloadShare: share, preloadBudgetSeconds } = scheduler;
  return { mode, share, mostMs: toMs(preloadBudgetSeconds), price: PRICE, weights: BAND_WEIGHT };
}

export function engineSettings(
  document: ConfigDocument,
  models: readonly ModelSpec[],
  devices: readonly DeviceSpec[],
  { policy, shadow }: BoundScheduler,
): EngineSettings {
  const jobs = jobSettings(document);
  return {
    pool: DEFAULT_POOL,
    models,
    devices,
    policy,
    shadow,
    leaseMs: jobs.leaseMs,
    sweepMs: jobs.sweepMs,
    maxAttempts: jobs.maxAttempts,
    maxInterruptions: jobs.maxInterruptions,
    cancelGraceMs: jobs.cancelGraceMs,
    orphanMs: toMs(document.sync.orphanSeconds),
    drainMs: toMs(document.scheduler.drainSeconds),
    replicas: document.scheduler.replicas,
    shutdownMs: toMs(document.server.shutdownSeconds),
    preloading: preloadSettings(document),
    passes: { mode: "events" },
  };
}
