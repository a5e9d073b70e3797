// An engine that is a process of this machine: launched by this router, or by an earlier one and found by its record.

import type { Clock, Timer } from "../../domain/clock.ts";
import type { DeviceId, InstanceId, ModelName } from "../../domain/ids.ts";
import { LoadError, type Placement } from "../backend.ts";
import type { HeldPort } from "../free-port.ts";
import type { LogRing } from "../log-ring.ts";
import { endTree } from "./end-tree.ts";
import type { Hosted, Seat } from "./host.ts";
import type { LogFile } from "./log-file.ts";
import { isRunning, type ProcessIdentity } from "./process-table.ts";
import type { EngineRecord, Records } from "./record.ts";

const LOOK_MS = 250;

export interface EngineProcessParts {
  readonly clock: Clock;
  /** Null: nothing is written down. */
  readonly records: Records | null;
  readonly record: EngineRecord;
  readonly port: HeldPort;
  readonly logFile: LogFile;
  fits(record: EngineRecord): boolean;
  /** True: a child of this process, whose end is told. */
  readonly child: boolean;
  readonly stopSignal: NodeJS.Signals;
  onGone(engine: EngineProcess): void;
}

export class EngineProcess implements Hosted {
  proven = false;
  /** Its end was asked for. */
  doomed = false;
  readonly whenEnded: Promise<string>;
  readonly #parts: EngineProcessParts;
  #record: EngineRecord;
  #ended: string | null = null;
  #endedWith: (words: string) => void = () => undefined;
  #ending: Promise<void> | null = null;
  #watch: Timer | null = null;

  constructor(parts: EngineProcessParts) {
    this.#parts = parts;
    this.#record = parts.record;
    this.whenEnded = new Promise((resolve) => {
      this.#endedWith = resolve;
    });
  }

  get marker(): InstanceId {
    return this.#record.marker as InstanceId;
  }

  get driver(): string {
    return this.#record.driver;
  }

  get model(): ModelName {
    return this.#record.model as ModelName;
  }

  get seat(): Seat {
    const { instance, device, epoch } = this.#record;
    return { instance: instance as InstanceId, model: this.model, device: device as DeviceId | null, epoch };
  }

  get origin(): string {
    const { host, port } = this.#record;
    return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
  }

  get fits(): boolean {
    return this.#parts.fits(this.#record);
  }

  get found(): boolean {
    return !this.#parts.child;
  }

  get ended(): string | null {
    return this.#ended;
  }

  get log(): LogRing {
    return this.#parts.logFile.ring;
  }

  /** Its process is known from now on. */
  async started(identity: ProcessIdentity | null): Promise<void> {
    this.#record = { ...this.#record, pid: identity?.pid ?? this.#record.pid, started: identity?.started ?? null };
    await this.#write();
    this.#parts.logFile.watch();
    if (!this.#parts.child) this.#look();
  }

  /** The process that was started is gone; what it started may still run. Known to its own parent at once. */
  exited(words: string): void {
    if (this.#ended !== null) return;
    this.#ended = words;
    this.#watch?.cancel();
    void this.catchUp().then(() => this.#endedWith(words));
  }

  catchUp(): Promise<void> {
    return this.#parts.logFile.catchUp();
  }

  note(text: string): void {
    this.#parts.logFile.note(text);
  }

  async reseat({ instance, device, epoch }: Placement): Promise<void> {
    this.#record = { ...this.#record, instance, device, epoch: epoch ?? this.#record.epoch };
    await this.#write();
  }

  end(graceMs: number, hurry?: AbortSignal): Promise<void> {
    this.doomed = true;
    this.#ending ??= this.#end(graceMs, hurry).catch((error: unknown) => {
      this.#ending = null;
      throw error;
    });
    return this.#ending;
  }

  async #end(graceMs: number, hurry?: AbortSignal): Promise<void> {
    const { clock, stopSignal, logFile, records, port, onGone, child } = this.#parts;
    const tree = { leader: this.#identity(), marker: this.marker, witnessed: child };
    await endTree({ tree, stopSignal, graceMs, clock, ...(hurry === undefined ? {} : { hurry }) });
    this.exited("it was stopped");
    await logFile.close();
    await records?.remove(this.marker);
    port.release();
    onGone(this);
  }

  #identity(): ProcessIdentity | null {
    const { pid, started } = this.#record;
    return pid === null || started === null ? null : { pid, started };
  }

  async #write(): Promise<void> {
    try {
      await this.#parts.records?.write(this.#record);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      throw new LoadError(
        `what is started cannot be written down in the data folder (${code ?? "unknown"})`,
        [],
        error,
      );
    }
  }

  /** Nobody tells of the end of a process that is not a child. */
  #look(): void {
    const identity = this.#identity();
    const { clock } = this.#parts;
    if (this.#ended !== null) return;
    this.#watch = clock.at(clock.nowMs() + LOOK_MS, () => {
      const running = identity === null ? Promise.resolve(false) : isRunning(identity);
      void running.then((runs) => {
        if (runs) this.#look();
        else this.exited("its process is gone; it was started by an earlier router, so how it ended is not known");
      });
    });
  }
}
