// Recorded traffic of real services as a multi-model workload for one device: each source is one service with one
// model, thinned to the scale of a small box by an independent coin per request. Attribution: Azure LLM inference traces
// (CC-BY-4.0, Splitwise, ISCA'24), Mooncake (Apache-2.0), ServeGen (Apache-2.0). The files are no part of the package.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { HOMELAB, type Member, timing } from "./fleets.ts";
import { createSeeded, type Seeded } from "./seeded.ts";
import {
  type Arrival,
  arrivalOf,
  merge,
  type SimulatedModel,
  simulatedModel,
  type Workload,
  workMsOf,
} from "./workload.ts";

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
  /** With Mooncake's agents besides Azure's two services. Default true. */
  readonly agents?: boolean;
}

/** A coding service, a conversation service and long-context agents over one hour, thinned to one device's scale. */
export function azureAndMooncake(folder: string, slice: Slice): Workload {
  const seeded = createSeeded(slice.seed);
  const fromMs = slice.fromMinute * 60_000;
  const toMs = slice.toMinute * 60_000;
  const services = slice.agents === false ? SERVICES.slice(0, 2) : SERVICES;
  const streams = services.map((service) => recorded(folder, service, seeded.fork(service.file), fromMs, toMs));
  return {
    name: `azure-mooncake ${slice.fromMinute}-${slice.toMinute} min`,
    source: "Azure LLM inference 2023 (code, conversation) and Mooncake (conversation), thinned to 5, 4 and 3 %",
    models: services.map(({ model }, i) => ({ ...model, guessedWorkMs: meanWorkMs(model, streams[i] ?? []) })),
    arrivals: merge(...streams),
    untilMs: null,
  };
}

/** What an operator would say of the service. */
function meanWorkMs(model: SimulatedModel, arrivals: readonly Arrival[]): number {
  if (arrivals.length === 0) return model.guessedWorkMs;
  return arrivals.reduce((sum, arrival) => sum + workMsOf(model, arrival), 0) / arrivals.length;
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
    found.push(arrivalOf(model, atMs - fromMs, service.priority, workMs + model.firstTokenMs));
  }
  return found;
}

const [CHAT, CODER, TRANSLATE, BIG, VISION, SUMMARISE] = HOMELAB;

/** Service -> its model, and its caller's priority. */
const SERVEGEN_MAP: Readonly<Record<string, readonly [member: Member, priority: number]>> = {
  "m-small-c40": [SUMMARISE, -100],
  "m-small-c2": [CHAT, 100],
  "m-small-c39": [TRANSLATE, 0],
  "m-small-c24": [SUMMARISE, -100],
  "m-mid-c98": [CODER, 100],
  "m-mid-c64": [CODER, 0],
  "m-mid-c59": [VISION, 0],
  "m-mid-c87": [TRANSLATE, 0],
  "m-mid-c90": [CHAT, 100],
  "m-large-c111": [BIG, -100],
  "m-large-c79": [BIG, -100],
  "m-large-c92": [BIG, 0],
  "m-large-c94": [BIG, 0],
  "m-large-c103": [VISION, -100],
  "m-large-c13": [VISION, 0],
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
  return { name, source, models: HOMELAB.map(({ model }) => model), arrivals: merge(found), untilMs: null };
}

function servegenJob(seeded: Seeded, [member, priority]: readonly [Member, number], atMs: number): Arrival {
  const workMs = seeded.logNormal(member.meanWorkMs, 0.8);
  return arrivalOf(member.model, atMs, priority, Math.max(200, workMs));
}

function* rows(folder: string, file: string): Generator<string[]> {
  const text = gunzipSync(readFileSync(join(folder, file))).toString("utf8");
  for (const line of text.trim().split("\n").slice(1)) yield line.trim().split(",");
}

function clamp(value: number, low: number, high: number): number {
  return Math.max(low, Math.min(high, value));
}
