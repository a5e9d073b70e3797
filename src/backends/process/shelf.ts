// The engines of one router's machine, whichever backend started them. One shelf for each router: backends come and go
// with the configuration, engines outlive them, and what an earlier router left belongs to no backend yet.

import { createHash } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pid } from "node:process";
import type { Clock } from "../../domain/clock.ts";
import type { DriverContext } from "../backend.ts";
import { holdUsedPort } from "../free-port.ts";
import type { LogRing } from "../log-ring.ts";
import { EngineProcess } from "./engine-process.ts";
import { type EngineMember, lettersOf } from "./launch-plan.ts";
import { LogFile } from "./log-file.ts";
import { bootMark, isRunning, membersOf } from "./process-table.ts";
import { type EngineRecord, Records } from "./record.ts";

const LOADS_REMEMBERED = 500;

const shelves = new WeakMap<DriverContext, Shelf>();

export function shelfOf(context: DriverContext): Shelf {
  const shelf = shelves.get(context) ?? new Shelf(context);
  shelves.set(context, shelf);
  return shelf;
}

const keyOf = (driver: string, model: string): string => JSON.stringify([driver, model]);

export class Shelf {
  readonly engines = new Set<EngineProcess>();
  /** Null: nothing is kept beyond this process. */
  readonly records: Records | null;
  readonly clock: Clock;
  readonly #folder: string;
  /** The models there are, by driver and name. */
  readonly #members = new Map<string, EngineMember>();
  readonly #logs = new Map<string, LogRing>();
  #loads: readonly string[] = [];
  #boot: Promise<string> | null = null;
  #found: Promise<void> | null = null;

  constructor({ clock, dataDir }: DriverContext) {
    this.clock = clock;
    this.#folder = dataDir === undefined ? join(tmpdir(), `sir-engines-${pid}`) : join(dataDir, "engines");
    this.records = dataDir === undefined ? null : new Records(this.#folder);
  }

  know(driver: string, member: EngineMember): void {
    this.#members.set(keyOf(driver, member.spec.name), member);
  }

  knows(driver: string, model: string): boolean {
    return this.#members.has(keyOf(driver, model));
  }

  /** Whether it would be launched the same way today. */
  fits({ driver, model, letters }: EngineRecord): boolean {
    const member = this.#members.get(keyOf(driver, model));
    return member !== undefined && letters === lettersOf(driver, member);
  }

  /** By driver and model; those that have ended and were not cleared away yet too. */
  of(driver: string, model: string): EngineProcess[] {
    return [...this.engines].filter((engine) => engine.driver === driver && engine.model === model);
  }

  /** Looks, once, for what an earlier router left. Engines of which nothing runs any more are forgotten. */
  findLeftovers(): Promise<void> {
    this.#found ??= this.#find().catch((error: unknown) => {
      this.#found = null;
      throw error;
    });
    return this.#found;
  }

  boot(): Promise<string> {
    this.#boot ??= bootMark(this.clock.wallMs());
    return this.#boot;
  }

  logFile(marker: string, maxLines: number): LogFile {
    const name = /^[A-Za-z0-9_-]{1,80}$/.test(marker) ? marker : createHash("sha256").update(marker).digest("hex");
    return new LogFile(join(this.#folder, `${name}.log`), maxLines, this.clock);
  }

  put(engine: EngineProcess): void {
    this.engines.add(engine);
    this.#logs.set(keyOf(engine.driver, engine.model), engine.log);
  }

  /** Of the engine that was put last. */
  logOf(driver: string, model: string): LogRing | null {
    return this.#logs.get(keyOf(driver, model)) ?? null;
  }

  wasLoaded(letters: string): boolean {
    return this.#loads.includes(letters);
  }

  async noteLoaded(letters: string): Promise<void> {
    if (this.wasLoaded(letters)) return;
    this.#loads = [...this.#loads, letters].slice(-LOADS_REMEMBERED);
    // Only a guess hangs on it.
    await this.records?.writeLoads(await this.boot(), this.#loads).catch(() => undefined);
  }

  async #find(): Promise<void> {
    const boot = await this.boot();
    this.#loads = [...new Set([...((await this.records?.loads(boot)) ?? []), ...this.#loads])];
    for (const record of (await this.records?.all()) ?? []) {
      if ([...this.engines].some(({ marker }) => marker === record.marker)) continue;
      await this.#take(record, boot);
    }
  }

  async #take(record: EngineRecord, boot: string): Promise<void> {
    const leader =
      record.boot === boot && record.pid !== null && record.started !== null
        ? { pid: record.pid, started: record.started }
        : null;
    const runs = leader !== null && (await isRunning(leader));
    const remains = runs || (await membersOf({ leader, marker: record.marker, witnessed: false })).length > 0;
    const member = this.#members.get(keyOf(record.driver, record.model));
    const logFile = this.logFile(record.marker, member?.options.logLines ?? 100);
    if (!remains) {
      await logFile.close();
      await this.records?.remove(record.marker);
      return;
    }
    const engine = new EngineProcess({
      clock: this.clock,
      records: this.records,
      record: { ...record, pid: leader?.pid ?? null, started: leader?.started ?? null },
      port: holdUsedPort(record.host, record.port),
      logFile,
      fits: (now) => runs && this.fits(now),
      child: false,
      stopSignal: member?.options.stopSignal ?? "SIGTERM",
      onGone: (gone) => this.engines.delete(gone),
    });
    await engine.started(leader);
    this.put(engine);
    if (!runs) engine.exited("the process that was started is gone; what it started still runs");
  }
}
