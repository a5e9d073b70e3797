// What the scheduler is told of each queue is kept up to date event by event. Here it is counted again from the rows in the
// store after each event: cancels, retries with back-off, lost engines, callers that hang up and come back, deadlines, a
// restart.

import Database from "better-sqlite3";
import { expect, test } from "vitest";
import type { RequestFault } from "../../src/backends/mock/faults.ts";
import { BANDS, bandOf } from "../../src/domain/band.ts";
import type { JobId } from "../../src/domain/ids.ts";
import type { Snapshot } from "../../src/scheduler/snapshot.ts";
import { createSeeded, type Seeded } from "../../src/simulator/seeded.ts";
import { VirtualClock } from "../../src/simulator/virtual-clock.ts";
import { openRig, type Rig } from "./rig.ts";

interface Row {
  readonly id: JobId;
  readonly model: string;
  readonly priority: number;
  readonly accepted_ms: number;
  readonly deadline_ms: number | null;
}

const MODELS = ["a", "b", "c"] as const;
/** Of each nine requests since a load: one is refused by a busy engine, one fails, and the last kills the engine. */
const FAULTS: readonly (RequestFault | undefined)[] = [
  { kind: "die", afterTokens: 2 },
  undefined,
  { kind: "status", status: 503 },
  undefined,
  undefined,
  { kind: "status", status: 500 },
];
const HALF_LIFE_MS = 600_000;

/** Three models on one device, with everything going wrong now and then. */
class Site {
  readonly database = new Database(":memory:");
  readonly clock = new VirtualClock();
  readonly away = new Set<JobId>();
  readonly callers = new Map<JobId, { drop(orphanMs: number): void }>();
  readonly came: { readonly model: string; readonly priority: number; readonly atMs: number }[] = [];
  readonly ids: JobId[] = [];
  rig!: Rig;
  #last: Snapshot | null = null;
  #seed = 1;

  async open(): Promise<void> {
    this.rig = await openRig({
      models: Object.fromEntries(MODELS.map((name) => [name, { loadSeconds: 3, concurrency: 2 }])),
      scheduler: { policy: "stint" },
      jobs: { leaseSeconds: 40, sweepSeconds: 1 },
      database: this.database,
      clock: this.clock,
      seed: this.#seed++,
      faults: { request: (_instance, nth) => FAULTS[nth % 9] ?? null },
      watch: (snapshot) => {
        this.#last = snapshot;
      },
    });
  }

  async restart(): Promise<void> {
    const closing = this.rig.engine.close();
    await this.clock.runUntil(this.clock.nowMs() + 60_000);
    await closing;
    this.away.clear();
    this.callers.clear();
    await this.open();
  }

  /** Counted from the rows, and as the scheduler saw it last. */
  compare(): void {
    const rows = this.#rows(`status = 0 AND run_after_ms <= ${this.clock.nowMs()}`).filter(
      ({ id }) => !this.away.has(id),
    );
    for (const view of this.#last?.models ?? []) {
      const own = rows.filter(({ model }) => model === view.model);
      const due = own.map(({ deadline_ms }) => deadline_ms).filter((each) => each !== null);
      const counted = {
        depth: own.length,
        deadline: due.length === 0 ? null : Math.min(...due),
        bands: BANDS.map((band) => {
          const of = own.filter(({ priority }) => bandOf(priority) === band);
          return [of.length, of.reduce((sum, each) => sum + Math.floor(each.accepted_ms), 0)];
        }),
      };
      expect({
        depth: view.depth,
        deadline: view.deadline?.atMs ?? null,
        bands: BANDS.map((band) => [view.bands[band].depth, view.bands[band].acceptedAtMsSum]),
      }).toEqual(counted);
      for (const band of BANDS) {
        const { value, atMs } = view.bands[band].arrivals;
        const of = this.came.filter(({ model, priority }) => model === view.model && bandOf(priority) === band);
        const halved = of.reduce((sum, each) => sum + 0.5 ** ((atMs - each.atMs) / HALF_LIFE_MS), 0);
        expect(value).toBeCloseTo(halved, 6);
      }
    }
  }

  #rows(where: string): Row[] {
    const text = `SELECT id, model, priority, accepted_ms, deadline_ms FROM jobs WHERE ${where}`;
    return this.database.prepare<[], Row>(text).all();
  }
}

async function act(site: Site, random: Seeded): Promise<void> {
  const { rig } = site;
  const model = random.pick(MODELS);
  const priority = random.pick([100, 0, 0, -100, 3]);
  const tokens = random.integer(8, 640);
  const some = (): JobId | undefined => site.ids[random.integer(0, Math.max(0, site.ids.length - 1))];
  const arrives = (id: JobId): void => {
    site.ids.push(id);
    site.came.push({ model, priority, atMs: site.clock.nowMs() });
  };
  const what = random.integer(0, 9);
  if (what <= 3) {
    const deadlineMs = random.pick([null, null, 20_000, 90_000]);
    arrives(await rig.submit(model, { priority, tokens, deadlineMs }));
  } else if (what === 4) {
    const asked = rig.ask(model, { priority, tokens });
    site.callers.set(asked.id, asked);
    arrives(asked.id);
  } else if (what === 5) {
    const [id, caller] = [...site.callers][0] ?? [];
    if (id === undefined || caller === undefined) return;
    site.callers.delete(id);
    caller.drop(15_000);
    site.away.add(id);
  } else if (what === 6) {
    const [id] = site.away;
    if (id === undefined) return;
    rig.engine.renew(id);
    site.away.delete(id);
  } else if (what === 7) {
    const id = some();
    if (id !== undefined) await rig.engine.cancel(id, "client");
  } else await rig.advance(random.uniform(0.2, 9));
}

test("after any event the sums that the scheduler sees are those that the rows add up to", async () => {
  for (const seed of [1, 2, 3]) {
    const site = new Site();
    const random = createSeeded(seed);
    await site.open();
    for (let step = 0; step < 160; step++) {
      if (step === 90) await site.restart();
      await act(site, random);
      await site.clock.settle();
      site.compare();
    }
    expect(site.rig.faults).toEqual([]);
    expect(new Set(site.rig.events.map(({ event }) => event.type))).toContain("job.requeued");
    await site.restart();
  }
}, 120_000);
