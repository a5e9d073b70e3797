// The place where a day happens: the hardware and the database, which last, and the router, which is killed and
// restarted. Callers reach the router only through `call`, so that a death in mid-call is what it is for a real one.

import type { Job } from "../../src/domain/job.ts";
import { createSeeded, type Seeded } from "../../src/simulator/seeded.ts";
import { VirtualClock } from "../../src/simulator/virtual-clock.ts";
import type { DayFacts } from "./facts.ts";
import { Hardware } from "./hardware.ts";
import { type Entry, Ledger } from "./ledger.ts";
import { Mortal } from "./mortal.ts";
import type { Plant } from "./planted.ts";
import { openDatabase, openRouter, type Router, type WorldDatabase } from "./router.ts";
import { Claims, lateFinish } from "./zombies.ts";

export type { Router } from "./router.ts";

export type Reply<T> =
  | { readonly kind: "ok"; readonly value: T }
  | { readonly kind: "error"; readonly error: unknown }
  /** Nothing listens: nothing happened. */
  | { readonly kind: "down" }
  /** The router died in mid-call: it may have happened. */
  | { readonly kind: "cut" };

const LATE_MS = 200;

export class Site {
  readonly facts: DayFacts;
  readonly clock = new VirtualClock();
  readonly startMs = this.clock.nowMs();
  readonly hardware: Hardware;
  readonly ledger = new Ledger();
  readonly database: WorldDatabase;
  readonly plant: Plant | null;
  router: Router | null = null;
  kills = 0;
  /** In good order, with those that a kill cut short. */
  stopsBegun = 0;
  stops = 0;
  stopping = false;
  #number = 0;
  #armed: "before" | "after" | null = null;
  #restarted = false;
  readonly #fate: Seeded;
  #mortal = new Mortal();
  /** When routers began to serve, ascending. */
  readonly boots: number[] = [];
  /** Whoever had a job before speaks up once more while another attempt runs. */
  readonly claims = new Claims((earlier) => {
    this.clock.at(this.clock.nowMs() + LATE_MS, () => void this.call((router) => lateFinish(this, router, earlier)));
  });

  constructor(facts: DayFacts, plant: Plant | null = null) {
    this.facts = facts;
    this.plant = plant;
    this.hardware = new Hardware(this.clock, facts.engines);
    this.database = openDatabase();
    this.#fate = createSeeded(facts.seed).fork("site");
  }

  /** A router process starts; it may die before it listens. */
  start(): void {
    const mortal = new Mortal();
    this.#mortal = mortal;
    this.#number++;
    const hook = (phase: "before" | "after"): void => {
      if (this.#armed !== phase || mortal.dead) return;
      this.#armed = null;
      this.#dies();
      throw new Error("killed at a commit");
    };
    openRouter(this, mortal, this.#number, hook).then(
      (router) => {
        if (mortal.dead) return;
        this.router = router;
        this.boots.push(router.startedAtMs);
        this.#restarted = true;
      },
      (error: unknown) => {
        if (!mortal.dead) this.ledger.violate(this.clock.nowMs(), `the router does not start: ${words(error)}`);
      },
    );
  }

  /** Now, or at the next commit: before it (all of it is lost) or after it (nobody hears of it). */
  kill(): void {
    const how = this.#fate.pick(["now", "before", "before", "after", "after"] as const);
    if (how !== "now") {
      this.#armed = how;
      this.clock.at(this.clock.nowMs() + 30_000, () => {
        if (this.#armed === null) return;
        this.#armed = null;
        this.#dies();
      });
    } else this.#dies();
  }

  /** In good order: running work may finish, the rest is queued again, uncharged. A kill may still come between. */
  async stop(): Promise<void> {
    const { router } = this;
    if (router === null || this.stopping) return;
    const mortal = this.#mortal;
    this.stopping = true;
    this.stopsBegun++;
    await mortal.lasting(router.engine.close());
    await mortal.lasting(router.store.close());
    this.stops++;
    this.#goes();
  }

  #dies(): void {
    if (this.#mortal.dead) return;
    this.kills++;
    this.#goes();
  }

  #goes(): void {
    this.#mortal.die();
    this.router = null;
    this.stopping = false;
    this.hardware.routerDied(this.#fate.chance(0.5));
    const upAtMs = this.clock.nowMs() + this.#fate.pick([500, 3_000, 40_000, 400_000]);
    this.clock.at(upAtMs, () => this.start());
    if (this.#fate.chance(0.15)) this.clock.at(upAtMs, () => this.kill());
  }

  /** Whether a router has come up since this was last asked. */
  takeRestart(): boolean {
    const restarted = this.#restarted;
    this.#restarted = false;
    return restarted;
  }

  close(): void {
    this.#armed = null;
    this.#mortal.die();
    this.router = null;
    this.database.close();
  }

  async call<T>(work: (router: Router) => Promise<T>): Promise<Reply<T>> {
    const { router } = this;
    if (router === null) return { kind: "down" };
    return new Promise((resolve) => {
      const { mortal } = router;
      mortal.onDeath(() => resolve({ kind: "cut" }));
      work(router).then(
        (value) => {
          if (!mortal.dead) resolve({ kind: "ok", value });
        },
        (error: unknown) => {
          if (!mortal.dead) resolve({ kind: "error", error });
        },
      );
    });
  }

  /** Any row a caller has seen: a final state never changes, and none lapses that somebody asks for. */
  saw(entry: Entry, job: Job): void {
    const nowMs = this.clock.nowMs();
    const isNews = entry.final === null;
    this.ledger.saw(entry, job, nowMs);
    if (isNews) this.#notEarly(job);
    if (!isNews || job.state.status !== "cancelled" || job.state.reason !== "lease_expired") return;
    const { finishedAtMs } = job.state;
    const bootMs = this.boots.findLast((atMs) => atMs <= finishedAtMs) ?? 0;
    const signMs = Math.max(job.acceptedAtMs, bootMs, entry.heardAtMs <= finishedAtMs ? entry.heardAtMs : 0);
    const leaseMs = job.leaseMs ?? Number.POSITIVE_INFINITY;
    if (finishedAtMs - signMs < leaseMs - 1) {
      this.ledger.violate(
        nowMs,
        `${job.id} lapsed ${finishedAtMs - signMs} ms after it was last asked for, with a lease of ${leaseMs} ms`,
      );
    }
  }

  #notEarly({ id, state, deadlineAtMs }: Job): void {
    const late = state.status === "expired" || (state.status === "cancelled" && state.reason === "deadline");
    if (!late || !("finishedAtMs" in state) || state.finishedAtMs >= (deadlineAtMs ?? Number.POSITIVE_INFINITY)) return;
    this.ledger.violate(
      this.clock.nowMs(),
      `${id} is over for its deadline at ${state.finishedAtMs}, which is ${deadlineAtMs}`,
    );
  }

  /** 17: the bytes are those an engine sent in answer to this very job, and the same each time. */
  checkAnswer(entry: Entry, bytes: Uint8Array): void {
    const nowMs = this.clock.nowMs();
    const { plan } = entry;
    const calls = this.hardware.callCounts.get(plan.tag) ?? 0;
    let known = false;
    for (let attempt = 1; attempt <= calls; attempt++) {
      const sent = this.hardware.answers.get(`${plan.tag} ${attempt}`);
      if (sent !== undefined && Buffer.compare(sent, bytes) === 0) known = true;
    }
    if (!known)
      this.ledger.violate(
        nowMs,
        `${entry.id} has an answer that no engine gave: ${Buffer.from(bytes).toString("utf8")}`,
      );
    if (entry.answer !== null && Buffer.compare(entry.answer, bytes) !== 0) {
      this.ledger.violate(nowMs, `${entry.id} is read twice with different bytes`);
    }
    entry.answer = bytes;
  }
}

function words(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
