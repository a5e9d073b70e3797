// Recorded traffic of real services as a multi-model workload for one device: each source is one service with one
// model, thinned to the scale of a small box by an independent coin per request. Attribution: Azure LLM inference traces
// (CC-BY-4.0, Splitwise, ISCA'24), Mooncake (Apache-2.0), ServeGen (Apache-2.0). The files are no part of the package.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { createSeeded, type Seeded } from "./seeded.ts";
import { type Arrival, merge, type SimulatedModel, simulatedModel, tokensFor, type Workload } from "./workload.ts";

const AZURE_CODE = "azure_llm_2023_code.csv.gz";
const AZURE_CONVERSATION = "azure_llm_2023_conv.csv.gz";
const MOONCAKE = "mooncake_conversation.csv.gz";
const SERVEGEN = "servegen_services_rate10min_14d.csv.gz";

/** Azure's first request, UTC: the start of the hour that all three sources share. */
const AZURE_START_MS = Date.parse("2023-11-16T18:15:46.680Z");

/** Which files are missing from the folder, so that whoever skips can say why. */
export function missingTraces(folder: string): readonly string[] {
  return [AZURE_CODE, AZURE_CONVERSATION, MOONCAKE, SERVEGEN].filter((file) => !existsSync(join(folder, file)));
}

interface Source {
  readonly file: string;
  readonly model: SimulatedModel;
  readonly priority: number;
  /** Share of the recorded requests that is kept. */
  readonly keep: number;
  readonly prefillTokensPerSecond: number;
  atMs(stamp: string): number;
}

const azureMs = (stamp: string): number => Date.parse(`${stamp.slice(0, 23).replace(" ", "T")}Z`) - AZURE_START_MS;

const SERVICES: readonly Source[] = [
  {
    file: AZURE_CODE,
    model: simulatedModel("coder-32b", timing(110_000, 2_000, 28, 0.07)),
    priority: 0,
    keep: 0.05,
    prefillTokensPerSecond: 4_000,
    atMs: azureMs,
  },
  {
    file: AZURE_CONVERSATION,
    model: simulatedModel("chat-8b", { ...timing(35_000, 2_000, 45, 0.05), priority: 1.5 }),
    priority: 100,
    keep: 0.04,
    prefillTokensPerSecond: 9_000,
    atMs: azureMs,
  },
  {
    file: MOONCAKE,
    model: simulatedModel("agent-70b", { ...timing(240_000, 3_000, 15, 0.08), priority: 0.5 }),
    priority: -100,
    keep: 0.03,
    prefillTokensPerSecond: 2_500,
    atMs: Number,
  },
];

export interface Slice {
  readonly seed: number;
  /** Minutes of the recorded hour, e.g. 10 to 25. */
  readonly fromMinute: number;
  readonly toMinute: number;
}

/** A coding service, a conversation service and long-context agents over one hour, thinned to one device's scale. */
export function azureAndMooncake(folder: string, slice: Slice): Workload {
  const seeded = createSeeded(slice.seed);
  const fromMs = slice.fromMinute * 60_000;
  const toMs = slice.toMinute * 60_000;
  const streams = SERVICES.map((service) => recorded(folder, service, seeded.fork(service.file), fromMs, toMs));
  return {
    name: `azure-mooncake ${slice.fromMinute}-${slice.toMinute} min`,
    source: "Azure LLM inference 2023 (code, conversation) and Mooncake (conversation), thinned to 5, 4 and 3 %",
    models: SERVICES.map((service) => service.model),
    arrivals: merge(...streams),
    untilMs: null,
  };
}

function recorded(folder: string, service: Source, coin: Seeded, fromMs: number, toMs: number): Arrival[] {
  const found: Arrival[] = [];
  for (const [stamp = "", input = "", output = ""] of rows(folder, service.file)) {
    const kept = coin.chance(service.keep);
    const atMs = service.atMs(stamp);
    if (!kept || !(atMs >= fromMs && atMs < toMs)) continue;
    const { model } = service;
    const workMs =
      (Number(input) / service.prefillTokensPerSecond + Math.max(1, Number(output)) / model.tokensPerSecond) * 1_000;
    const tokens = tokensFor(model, workMs + model.firstTokenMs);
    found.push({ atMs: atMs - fromMs, model: model.name, priority: service.priority, tokens });
  }
  return found;
}

const HOMELAB: readonly SimulatedModel[] = [
  simulatedModel("chat-8b", { ...timing(35_000, 2_000, 45, 0.05), priority: 1.5 }),
  simulatedModel("coder-32b", { ...timing(110_000, 2_000, 28, 0.07), priority: 1.5 }),
  simulatedModel("translate-7b", timing(25_000, 2_000, 50, 0.05)),
  simulatedModel("big-70b", { ...timing(300_000, 3_000, 15, 0.08), priority: 0.5 }),
  simulatedModel("vision-12b", { ...timing(60_000, 2_000, 35, 0.07), concurrency: 8 }),
  simulatedModel("summarise-4b", { ...timing(20_000, 2_000, 80, 0.04), priority: 0.5 }),
];
const MEAN_WORK_MS: readonly number[] = [6_000, 25_000, 4_000, 60_000, 10_000, 3_000];

/** Service -> index of its model, and its caller's priority. */
const SERVEGEN_MAP: Readonly<Record<string, readonly [model: number, priority: number]>> = {
  "m-small-c40": [5, -100],
  "m-small-c2": [0, 100],
  "m-small-c39": [2, 0],
  "m-small-c24": [5, -100],
  "m-mid-c98": [1, 100],
  "m-mid-c64": [1, 0],
  "m-mid-c59": [4, 0],
  "m-mid-c87": [2, 0],
  "m-mid-c90": [0, 100],
  "m-large-c111": [3, -100],
  "m-large-c79": [3, -100],
  "m-large-c92": [3, 0],
  "m-large-c94": [3, 0],
  "m-large-c103": [4, -100],
  "m-large-c13": [4, 0],
};

/** Fifteen services over whole days, each thinned to `jobsPerDay`: Poisson counts per window, clustered as recorded. */
export function servegen(
  folder: string,
  options: { readonly seed: number; readonly fromDay: number; readonly days: number; readonly jobsPerDay: number },
): Workload {
  const seeded = createSeeded(options.seed);
  const windows = [...rows(folder, SERVEGEN)].map(([service = "", start, rate, cv]) => {
    return { service, atMs: Number(start) * 1_000, requests: Number(rate) * 600, size: clamp(Number(cv), 1, 20) };
  });
  const totals = new Map<string, number>();
  for (const { service, requests } of windows) totals.set(service, (totals.get(service) ?? 0) + requests);
  const fromMs = options.fromDay * 86_400_000;
  const toMs = fromMs + options.days * 86_400_000;
  const found: Arrival[] = [];
  for (const { service, atMs, requests, size } of windows) {
    const target = SERVEGEN_MAP[service];
    if (target === undefined || atMs < fromMs || atMs >= toMs) continue;
    const mean = (requests / (totals.get(service) ?? 1)) * options.jobsPerDay * 14;
    for (let left = seeded.poisson(mean); left > 0; ) {
      const taken = Math.min(left, 1 + Math.floor(seeded.exponential(size - 1)));
      const startMs = atMs - fromMs + seeded.uniform(0, 600_000);
      for (let i = 0; i < taken; i++) found.push(servegenJob(seeded, target, startMs + i * seeded.exponential(3_000)));
      left -= taken;
    }
  }
  const name = `servegen day ${options.fromDay}-${options.fromDay + options.days}`;
  const source = `ServeGen language services, thinned to ${options.jobsPerDay} jobs a day each`;
  return { name, source, models: HOMELAB, arrivals: merge(found), untilMs: null };
}

function servegenJob(seeded: Seeded, target: readonly [model: number, priority: number], atMs: number): Arrival {
  const [index, priority] = target;
  const model = HOMELAB[index] ?? simulatedModel("chat-8b");
  const workMs = seeded.logNormal(MEAN_WORK_MS[index] ?? 6_000, 0.8);
  return { atMs, model: model.name, priority, tokens: tokensFor(model, Math.max(200, workMs)) };
}

function* rows(folder: string, file: string): Generator<string[]> {
  const text = gunzipSync(readFileSync(join(folder, file))).toString("utf8");
  for (const line of text.trim().split("\n").slice(1)) yield line.trim().split(",");
}

function timing(
  loadMs: number,
  unloadMs: number,
  tokensPerSecond: number,
  slowdownPerJob: number,
): Omit<SimulatedModel, "name" | "priority"> {
  return { loadMs, unloadMs, tokensPerSecond, slowdownPerJob, concurrency: 16, firstTokenMs: 200 };
}

function clamp(value: number, low: number, high: number): number {
  return Math.max(low, Math.min(high, value));
}
