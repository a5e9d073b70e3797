// What the engine has learned and no row of the store tells: noted a minute after something happened, where it changed, and
// taken up again at boot. Kill -9 costs the last minute of it. What of all that is learned lies where is a table in README.md.

import type { Timer } from "../domain/clock.ts";
import type { RouterEvent } from "../domain/event.ts";
import type { DeviceId } from "../domain/ids.ts";
import type { LearnedNote } from "../domain/journal.ts";
import { configuredGiB } from "./claims.ts";
import type { DeviceUnit } from "./device.ts";
import type { Estimates } from "./estimates.ts";
import { fieldsIn, numberIn, numbersIn } from "./note.ts";
import type { EngineWorld, ModelEntry } from "./state.ts";

const NOTE_EVERY_MS = 60_000;
const TEACHES: ReadonlySet<RouterEvent["type"]> = new Set([
  "job.accepted",
  "job.finished",
  "job.estimated",
  "load.finished",
  "decision",
  "preload",
]);

/** What is noted under one key. */
export interface Page {
  readonly key: string;
  write(): object;
  /** @param note As it was written, or anything else. */
  read(note: unknown): void;
}

interface Parts {
  readonly world: EngineWorld;
  readonly devices: readonly DeviceUnit[];
  readonly estimates: Estimates;
  /** What was counted in the last hour. */
  readonly hour: Page;
}

export class Notebook {
  readonly #parts: () => Parts;
  readonly #written = new Map<string, string>();
  #timer: Timer | null = null;

  constructor(parts: () => Parts) {
    this.#parts = parts;
  }

  /** At boot, before queued jobs come back. */
  async recover(): Promise<void> {
    const notes = await this.#parts().world.store.hints.learned();
    for (const { key, read } of pagesOf(this.#parts())) {
      const note = notes.get(key);
      if (note === undefined) continue;
      read(note);
      this.#written.set(key, JSON.stringify(note));
    }
  }

  hear({ type }: RouterEvent): void {
    if (this.#timer !== null || !TEACHES.has(type)) return;
    const { clock, settings } = this.#parts().world;
    if (settings.unattended === true) return;
    this.#timer = clock.at(clock.nowMs() + NOTE_EVERY_MS, () => this.flush());
  }

  flush(): void {
    this.#timer?.cancel();
    this.#timer = null;
    const notes: LearnedNote[] = [];
    for (const { key, write } of pagesOf(this.#parts())) {
      const note = write();
      const text = JSON.stringify(note);
      if (this.#written.get(key) === text) continue;
      this.#written.set(key, text);
      notes.push({ key, note });
    }
    if (notes.length > 0) this.#parts().world.store.append([{ type: "learned", notes }]);
  }
}

function pagesOf({ world, devices, estimates, hour }: Parts): Page[] {
  return [
    hour,
    ...estimates.pages,
    world.foresight.page,
    ...[...world.models.values()].map(pageOfModel),
    ...devices.map(pageOfDevice),
  ];
}

/** What its loads took holds only beside the claim that they were compared with: with another one the model is another. */
function pageOfModel(entry: ModelEntry): Page {
  const { learned, arrivals, spec } = entry;
  return {
    key: `model ${spec.name}`,
    write: () => ({
      ...learned.noted(),
      arrivals: arrivals.noted(),
      claimGiB: configuredGiB(entry),
      memoryGiB: Object.fromEntries(learned.memoryGiB),
    }),
    read(note) {
      const fields = fieldsIn(note);
      learned.recall(fields);
      arrivals.recall(fields["arrivals"]);
      if (fields["claimGiB"] !== configuredGiB(entry)) return;
      for (const [device, gib] of numbersIn(fields["memoryGiB"])) learned.memoryGiB.set(device as DeviceId, gib);
    },
  };
}

/** How much of its time it was busy, and what is left to spend on swaps. */
function pageOfDevice(unit: DeviceUnit): Page {
  return {
    key: `device ${unit.spec.id}`,
    write: () => ({ ...unit.busy.view, budget: unit.budget }),
    read(note) {
      const { share, atMs, budget } = fieldsIn(note);
      unit.busy.recall(numberIn(share), numberIn(atMs));
      const left = fieldsIn(budget);
      const [leftMs, ofMs] = [numberIn(left["leftMs"]), numberIn(left["atMs"])];
      if (leftMs !== null && ofMs !== null) unit.budget = { leftMs, atMs: ofMs };
    },
  };
}
