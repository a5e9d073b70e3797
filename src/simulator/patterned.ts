// A home server with habits: somebody codes at half past seven and chats at six, translations come each half hour,
// summaries each hour, a nightly batch at two, pictures that are followed by code; and chat at odd times, day and night.

import { HOMELAB, type Member } from "./fleets.ts";
import { createSeeded, type Seeded } from "./seeded.ts";
import { type Arrival, arrivalOf, merge, type Workload } from "./workload.ts";

const SECOND_MS = 1_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const WORK_VARIATION = 0.8;
const WORK_FLOOR_MS = 200;
const INTERACTIVE = 100;
const BATCH = -100;

const [CHAT, CODER, TRANSLATE, BIG, VISION, SUMMARISE] = HOMELAB;

/** When the day's habits begin, from midnight. */
export const HABITS = {
  [BIG.model.name]: 2 * HOUR_MS,
  [CODER.model.name]: 7.5 * HOUR_MS,
  [CHAT.model.name]: 18 * HOUR_MS,
} as const;

export function patterned({ seed, days }: { readonly seed: number; readonly days: number }): Workload {
  const draw = createSeeded(seed).fork("patterned");
  const of = (member: Member, part: string): Source => ({ member, seeded: draw.fork(part) });
  const every = (stepMs: number, offsetMs: number): number[] =>
    Array.from({ length: Math.ceil((days * DAY_MS) / stepMs) }, (_, i) => i * stepMs + offsetMs);
  const morning = of(CODER, "morning");
  const evening = of(CHAT, "evening");
  return {
    name: "patterned",
    source: `habits of a home server over ${days} days, seed ${seed}`,
    models: HOMELAB.map(({ model }) => model),
    arrivals: merge(
      every(DAY_MS, HABITS[CODER.model.name] ?? 0).flatMap((atMs) => sitting(morning, about(morning, atMs), 12, 25)),
      every(DAY_MS, HABITS[CHAT.model.name] ?? 0).flatMap((atMs) => sitting(evening, about(evening, atMs), 15, 30)),
      spread(of(BIG, "night"), every(DAY_MS, HABITS[BIG.model.name] ?? 0), 200, 30, BATCH),
      spread(of(TRANSLATE, "half hours"), every(HOUR_MS / 2, 240 * SECOND_MS), 6, 5, 0),
      spread(of(SUMMARISE, "hours"), every(HOUR_MS, 2_100 * SECOND_MS), 40, 10, BATCH),
      pipelines(of(VISION, "pictures"), of(CODER, "code"), days * DAY_MS),
      oddTimes(of(CHAT, "odd times"), days * DAY_MS),
    ),
    untilMs: null,
  };
}

interface Source {
  readonly member: Member;
  readonly seeded: Seeded;
}

function job({ member, seeded }: Source, atMs: number, priority: number): Arrival {
  const workMs = seeded.logNormal(member.meanWorkMs, WORK_VARIATION);
  return arrivalOf(member.model, atMs, priority, Math.max(WORK_FLOOR_MS, workMs));
}

/** A minute early or late. */
function about({ seeded }: Source, atMs: number): number {
  return atMs + seeded.uniform(-60, 60) * SECOND_MS;
}

/** Somebody asks, reads, and asks again. */
function sitting(source: Source, startMs: number, count: number, gapSeconds: number): Arrival[] {
  let atMs = startMs;
  return Array.from({ length: count }, () => {
    const found = job(source, atMs, INTERACTIVE);
    atMs += source.seeded.exponential(gapSeconds * SECOND_MS);
    return found;
  });
}

/** At each of these instants so many jobs within so many seconds. */
function spread(
  source: Source,
  starts: readonly number[],
  count: number,
  withinSeconds: number,
  priority: number,
): Arrival[] {
  return starts.flatMap((startMs) =>
    Array.from({ length: count }, () =>
      job(source, startMs + source.seeded.uniform(0, withinSeconds) * SECOND_MS, priority),
    ),
  );
}

/** A few pictures, and a good minute later as many questions about them. */
function pipelines(pictures: Source, code: Source, untilMs: number): Arrival[] {
  const { seeded } = pictures;
  const found: Arrival[] = [];
  const gapMs = 1.5 * HOUR_MS;
  for (let atMs = seeded.exponential(gapMs); atMs < untilMs; atMs += seeded.exponential(gapMs)) {
    for (let left = seeded.integer(3, 7), i = 0; i < left; i++) {
      found.push(job(pictures, atMs + i * SECOND_MS, 0));
      found.push(job(code, atMs + (i + 70 + seeded.uniform(0, 20)) * SECOND_MS, 0));
    }
  }
  return found.sort((a, b) => a.atMs - b.atMs);
}

function oddTimes(source: Source, untilMs: number): Arrival[] {
  const { seeded } = source;
  const found: Arrival[] = [];
  const gapMs = 2 * HOUR_MS;
  for (let atMs = seeded.exponential(gapMs); atMs < untilMs; atMs += seeded.exponential(gapMs)) {
    found.push(...sitting(source, atMs, 6, 35));
  }
  return found;
}
