// Fills a store with a past as large as asked for: jobs, decisions, stretches of waiting and of devices, minutes. Drawn from
// a seed, written in one transaction; not a past that happened, but rows of its size and spread.

import type { Database } from "better-sqlite3";
import { uuidV7Hex } from "../src/domain/ids.ts";
import { createSeeded, type Seeded } from "../src/simulator/seeded.ts";

export interface PastSize {
  readonly jobs: number;
  readonly decisions: number;
  /** Ends here, router time. */
  readonly nowMs: number;
  readonly models: readonly string[];
  readonly devices: readonly string[];
  /** Default: six, so that opening it removes nothing. */
  readonly days?: number;
}

const DAY_MS = 86_400_000;
const BANDS = [100, 0, 0, 0, -100];
const CAUSES = ["held", "loading", "own_queue", "draining", "dispatch"];
const CALLERS = ["local", "local", "team-a", "team-b"];

interface Draw {
  readonly db: Database;
  readonly seeded: Seeded;
  readonly size: PastSize;
  readonly fromMs: number;
}

/** The schema must be there already. */
export function seedPast(db: Database, size: PastSize): void {
  const seeded = createSeeded(1);
  const draw = { db, seeded, size, fromMs: size.nowMs - (size.days ?? 6) * DAY_MS };
  db.pragma("cache_size = -400000");
  db.transaction(() => {
    seedJobs(draw);
    seedDecisions(draw);
    seedWaits(draw);
    seedSpans(draw);
    seedMinutes(draw);
    db.prepare("UPDATE usage SET jobs = jobs + ?, stamp_ms = max(stamp_ms, ?)").run(size.jobs, size.nowMs);
  })();
}

const pick = <T>(seeded: Seeded, all: readonly T[]): T => all[seeded.integer(0, all.length - 1)] as T;

function idOf(prefix: string, atMs: number, n: number): string {
  const random = Uint8Array.from([0, 0, 0, n >>> 24, n >>> 16, n >>> 8, n, 1]);
  return `${prefix}_${uuidV7Hex(atMs, n & 0xfff, random)}`;
}

/** Succeeded, failed, cancelled, expired: 96, 2, 1.5 and 0.5 of a hundred. */
function statusOf(chance: number): 2 | 3 | 4 | 5 {
  if (chance < 0.96) return 2;
  if (chance < 0.98) return 3;
  return chance < 0.995 ? 4 : 5;
}

function seedJobs({ db, seeded, size, fromMs }: Draw): void {
  const insert = db.prepare(`
    INSERT INTO jobs (id, pool, caller, model, endpoint, status, priority, rank, stream, durable, created_wall_ms, accepted_ms,
      lease_ms, last_poll_ms, epoch, attempts, home, started_ms, finished_ms, cancel_reason, error_code, error_message,
      decision, queue_wait_ms, client_request_id, metadata, purge_after_ms, wait_ms, run_ms, top_cause, parts)
    VALUES (?, 'default', ?, ?, '/v1/chat/completions', ?, ?, ?, 0, 1, ?, ?, 60000, ?, 2, 1, 'boot_0', ?, ?, ?, ?, ?, NULL, ?,
      ?, '{}', ?, ?, ?, ?, ?)`);
  const stepMs = (size.nowMs - 60_000 - fromMs) / size.jobs;
  for (let n = 0; n < size.jobs; n++) {
    const atMs = fromMs + n * stepMs;
    const status = statusOf(seeded.uniform(0, 1));
    const waitMs = Math.round(seeded.exponential(20_000));
    const runMs = status === 5 ? 0 : Math.round(seeded.exponential(5_000));
    const cause = pick(seeded, CAUSES);
    const startedMs = status === 5 ? null : atMs + waitMs;
    const parts = JSON.stringify([[cause, waitMs], ...(runMs > 0 ? [["running", runMs]] : [])]);
    insert.run(
      ...[idOf("job", atMs, n), pick(seeded, CALLERS), pick(seeded, size.models), status, pick(seeded, BANDS)],
      ...[atMs, Math.round(atMs), atMs, atMs, startedMs, atMs + waitMs + runMs],
      ...[status === 4 ? "client" : null, status === 3 ? "backend_error" : null, status === 3 ? "It failed." : null],
      ...[waitMs, n % 10 === 0 ? `request-${n}` : null, size.nowMs + 30 * DAY_MS, waitMs, runMs, cause, parts],
    );
  }
}

function seedDecisions({ db, seeded, size, fromMs }: Draw): void {
  const insert = db.prepare(
    "INSERT INTO decisions (id, at_ms, pool, kind, reason, device, detail) VALUES (?, ?, 'default', ?, ?, ?, ?)",
  );
  const subject = db.prepare("INSERT INTO decision_subjects (kind, subject, id) VALUES (0, ?, ?)");
  const stepMs = (size.nowMs - fromMs) / size.decisions;
  for (let n = 0; n < size.decisions; n++) {
    const atMs = fromMs + n * stepMs;
    const id = idOf("dec", atMs, n);
    const moves = n % 2 === 0;
    const reason = moves ? (seeded.uniform(0, 1) < 0.02 ? "ceiling" : "challenger_wins") : "resident_wins";
    const device = pick(seeded, size.devices);
    const [load, evict] = [pick(seeded, size.models), pick(seeded, size.models)];
    const scored = size.models.map((model, i) => ({
      ...{ model, depth: i, oldestWaitMs: 1_000 * i, priority: 1, terms: { age_term: 1.5 * i, depth_term: 0.25 * i } },
      ...{ switchCost: 60, score: i * 1.75 - 60, eligible: true, whyNot: null },
    }));
    const detail = {
      ...{
        id,
        pool: "default",
        policy: "model-score",
        atMs,
        wallMs: atMs,
        kind: moves ? "swap" : "hold",
        reason,
        device,
      },
      ...{ guard: reason === "ceiling" ? "ceiling" : null, load: moves ? load : null, evict: moves ? [evict] : [] },
      ...{ resident: [{ model: evict, forMs: 60_000, idleMs: 0 }], models: scored, jobs: [], nextLookAtMs: null },
      sentence: `Swapped ${evict} for ${load}: its score was higher, and ten jobs waited.`,
    };
    insert.run(id, atMs, detail.kind, reason, device, JSON.stringify(detail));
    for (const model of size.models) subject.run(model, id);
  }
}

function seedWaits({ db, seeded, size, fromMs }: Draw): void {
  const insert = db.prepare(
    "INSERT INTO waits (model, cause, rule, by_model, device, from_ms, to_ms) VALUES (?, ?, NULL, NULL, ?, ?, ?)",
  );
  const eachMs = ((size.nowMs - fromMs) * size.models.length) / Math.max(1, size.jobs / 4);
  for (const model of size.models) {
    for (let atMs = fromMs; atMs < size.nowMs - 60_000; ) {
      const toMs = atMs + seeded.exponential(eachMs);
      insert.run(model, pick(seeded, CAUSES), pick(seeded, size.devices), atMs, Math.min(toMs, size.nowMs - 60_000));
      atMs = toMs;
    }
  }
}

/** A model for some minutes, serving with pauses, then the next. To the second for two days, to the minute before. */
function seedSpans({ db, seeded, size, fromMs }: Draw): void {
  const insert = db.prepare(
    "INSERT INTO spans (grain, device, model, phase, from_ms, to_ms, decision) VALUES (?, ?, ?, ?, ?, ?, NULL)",
  );
  const lane = db.prepare("INSERT INTO lanes (device, model) VALUES (?, ?) ON CONFLICT DO NOTHING");
  const grains = [
    { grain: 0, sinceMs: size.nowMs - 2 * DAY_MS, eachMs: 3_500 },
    { grain: 1, sinceMs: fromMs, eachMs: 95_000 },
  ];
  for (const device of size.devices) {
    for (const model of size.models) lane.run(device, model);
    for (const { grain, sinceMs, eachMs } of grains) {
      for (let atMs = sinceMs; atMs < size.nowMs - 60_000; ) {
        const model = pick(seeded, size.models);
        const put = (phase: string, forMs: number): void => {
          insert.run(grain, device, model, phase, atMs, atMs + forMs);
          atMs += forMs;
        };
        put("loading", 30_000);
        const untilMs = atMs + seeded.exponential(900_000);
        while (atMs < Math.min(untilMs, size.nowMs - 70_000)) {
          put("serving", Math.max(100, seeded.exponential(eachMs)));
          put("idle", Math.max(1_000, seeded.exponential(eachMs / 2)));
        }
        put("unloading", 2_000);
      }
    }
  }
}

function seedMinutes({ db, seeded, size, fromMs }: Draw): void {
  const insert = db.prepare("INSERT INTO minutes VALUES (?, ?, ?, ?, ?, ?, 0, ?, ?)");
  for (let atMs = Math.ceil(fromMs / 60_000) * 60_000; atMs < size.nowMs - 60_000; atMs += 60_000) {
    for (const model of ["", ...size.models]) {
      for (const band of [0, 1, 2]) insert.run(model, atMs, band, seeded.integer(0, 40), 3, 3, 60_000, 15_000);
    }
  }
}
