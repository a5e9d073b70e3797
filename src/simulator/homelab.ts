// Six services of one home server: people who chat and code by day, translations one by one and in documents, pictures in
// bursts, summaries each hour, and batches for the largest model at night and at noon.

import { HOMELAB, type Member } from "./fleets.ts";
import { createSeeded, type Seeded } from "./seeded.ts";
import { type Arrival, arrivalOf, merge, type Workload } from "./workload.ts";

const SECOND_MS = 1_000;
const HOUR_MS = 3_600_000;
/** Coefficient of variation of the jobs' lengths; no job is shorter than the floor. */
const WORK_VARIATION = 0.8;
const WORK_FLOOR_MS = 200;

export interface HomelabOptions {
  readonly seed: number;
  readonly hours: number;
  /** 1: one household. 3: three times as many sessions, and batches three times as large. */
  readonly times: number;
}

const [CHAT, CODER, TRANSLATE, BIG, VISION, SUMMARISE] = HOMELAB;

export function homelab(options: HomelabOptions): Workload {
  const { seed, hours, times } = options;
  const draw = createSeeded(seed);
  const of = (member: Member): Source => ({ member, seeded: draw.fork(member.model.name), ...options });
  const [chat, coder, translate, big, vision, summarise] = [
    of(CHAT),
    of(CODER),
    of(TRANSLATE),
    of(BIG),
    of(VISION),
    of(SUMMARISE),
  ];
  return {
    name: times === 1 ? "homelab" : `homelab-x${times}`,
    source: `six services over ${hours} h${times === 1 ? "" : `, ${times} times the traffic`}, seed ${seed}`,
    models: HOMELAB.map(({ model }) => model),
    arrivals: merge(
      sessions(chat, { perHour: 3, jobs: [4, 13], gapMs: 35 * SECOND_MS, priority: () => 100 }),
      sessions(coder, {
        perHour: 1.2,
        jobs: [8, 29],
        gapMs: 20 * SECOND_MS,
        priority: () => (coder.seeded.chance(0.5) ? 100 : 0),
      }),
      sessions(translate, { perHour: 12, jobs: [1, 1], gapMs: 0, priority: () => 0 }),
      sessions(translate, { perHour: 0.4, jobs: [10, 29], gapMs: 2 * SECOND_MS, priority: () => 0 }),
      daily(big, { atHour: 2, jobs: 250, withinMs: 60 * SECOND_MS }),
      daily(big, { atHour: 12.5, jobs: 40, withinMs: 60 * SECOND_MS }),
      pictures(vision),
      hourly(summarise, { atMs: 300 * SECOND_MS, jobs: 60, withinMs: 20 * SECOND_MS }),
    ),
    untilMs: null,
  };
}

interface Source extends HomelabOptions {
  readonly member: Member;
  readonly seeded: Seeded;
}

function job({ member, seeded }: Source, atMs: number, priority: number): Arrival {
  const workMs = seeded.logNormal(member.meanWorkMs, WORK_VARIATION);
  return arrivalOf(member.model, atMs, priority, Math.max(WORK_FLOOR_MS, workMs));
}

/** From eight in the morning to eleven at night. */
function isDay(atMs: number): boolean {
  const hour = (atMs / HOUR_MS) % 24;
  return hour >= 8 && hour < 23;
}

/** Starts of a Poisson process that fall into the day. */
function* dayStarts({ seeded, hours, times }: Source, perHour: number): Generator<number> {
  const gapMs = HOUR_MS / (perHour * times);
  for (let atMs = seeded.exponential(gapMs); atMs <= hours * HOUR_MS; atMs += seeded.exponential(gapMs)) {
    if (isDay(atMs)) yield atMs;
  }
}

interface Session {
  readonly perHour: number;
  /** Fewest and most. */
  readonly jobs: readonly [number, number];
  /** Mean time between two jobs of a session. */
  readonly gapMs: number;
  priority(): number;
}

function sessions(source: Source, session: Session): Arrival[] {
  const found: Arrival[] = [];
  for (const startMs of dayStarts(source, session.perHour)) {
    let atMs = startMs;
    for (let left = source.seeded.integer(...session.jobs); left > 0; left--) {
      found.push(job(source, atMs, session.priority()));
      atMs += source.seeded.exponential(session.gapMs);
    }
  }
  return found;
}

interface Batch {
  readonly jobs: number;
  readonly withinMs: number;
}

function daily(source: Source, batch: Batch & { readonly atHour: number }): Arrival[] {
  const days = Math.ceil(source.hours / 24);
  return Array.from({ length: days }, (_, day) => batchAt(source, (day * 24 + batch.atHour) * HOUR_MS, batch)).flat();
}

function hourly(source: Source, batch: Batch & { readonly atMs: number }): Arrival[] {
  return Array.from({ length: source.hours }, (_, hour) => batchAt(source, hour * HOUR_MS + batch.atMs, batch)).flat();
}

function batchAt(source: Source, atMs: number, { jobs, withinMs }: Batch): Arrival[] {
  const { seeded, times } = source;
  return Array.from({ length: jobs * times }, () => job(source, atMs + seeded.uniform(0, withinMs), -100));
}

/** Day and night, twenty to fifty-nine pictures half a second apart. */
function pictures(source: Source): Arrival[] {
  const { seeded, hours, times } = source;
  const found: Arrival[] = [];
  const gapMs = (3 * HOUR_MS) / times;
  for (let atMs = seeded.exponential(gapMs); atMs <= hours * HOUR_MS; atMs += seeded.exponential(gapMs)) {
    for (let left = seeded.integer(20, 59), i = 0; i < left; i++) found.push(job(source, atMs + i * 500, 0));
  }
  return found;
}
