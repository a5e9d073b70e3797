// What an operator may ask. Each verb is recorded and takes effect through the same loop as everything else.

import type { Decision } from "../domain/decision.ts";
import { SirError } from "../domain/errors.ts";
import { LOCAL_CALLER, type ModelName } from "../domain/ids.ts";
import { type ByHand, verdictByHand } from "../scheduler/by-hand.ts";
import type { Operator } from "./control.ts";
import type { DecisionBook } from "./decision-book.ts";
import type { DeviceUnit } from "./device.ts";
import { exitOf } from "./move.ts";
import type { PauseWords } from "./pauses.ts";
import type { EngineWorld, ModelEntry } from "./state.ts";
import { snapshotOf } from "./views.ts";

/** Of a caller in this process. */
const BY_HAND: PauseWords = { who: LOCAL_CALLER, note: null };

export interface OperatorParts {
  readonly world: EngineWorld;
  readonly devices: readonly DeviceUnit[];
  readonly book: DecisionBook;
  setDraining(draining: boolean): void;
}

export function createOperator(parts: OperatorParts): Operator {
  const { world, devices, setDraining } = parts;
  const entryOf = (model: ModelName): ModelEntry => {
    const entry = world.models.get(model);
    if (entry === undefined || entry.removed)
      throw new SirError("model_not_found", `Model "${model}" is not configured.`);
    return entry;
  };
  const onDevice = (model: ModelName): ModelEntry => {
    const entry = entryOf(model);
    if (entry.remote === null) return entry;
    throw new SirError(
      "invalid_body",
      `Model "${model}" is always on elsewhere; it cannot be loaded or unloaded here.`,
    );
  };
  const change = (apply: () => void): Promise<void> => {
    apply();
    world.wake("load");
    return Promise.resolve();
  };
  const unload = (entry: ModelEntry, act: "unload" | "drain", who: string, force: boolean): boolean => {
    entry.wantedBy = null;
    entry.standing = false;
    return takeOut(parts, entry.spec.name, { act, force }, who);
  };
  return {
    load: (model, who = LOCAL_CALLER) =>
      change(() => {
        const entry = onDevice(model);
        entry.breaker.reset();
        entry.paused = false;
        world.pauses.end("model", model);
        if (!devices.some((device) => device.find(model) !== null)) entry.wantedBy = who;
      }),
    unload: (model, force, who = LOCAL_CALLER) => change(() => void unload(onDevice(model), "unload", who, force)),
    pin: (model, who = LOCAL_CALLER) =>
      change(() => {
        const entry = onDevice(model);
        if (!entry.pinned) {
          entry.pinnedBy = who;
          stayByHand(parts, entry, "pin", who);
        }
        entry.pinned = true;
        entry.standing = !devices.some((device) => device.find(model) !== null);
      }),
    unpin: (model, who = LOCAL_CALLER) =>
      change(() => {
        const entry = onDevice(model);
        if (entry.pinned) stayByHand(parts, entry, "unpin", who);
        entry.pinned = false;
        entry.pinnedBy = null;
      }),
    pause: (device = null, words = BY_HAND) =>
      change(() => world.pauses.begin(device === null ? "router" : "device", device, words)),
    resume: (device = null) =>
      change(() => {
        world.pauses.end(device === null ? "router" : "device", device);
        if (device === null) setDraining(false);
      }),
    drain: () => change(() => setDraining(true)),
    drainModel: (model, words = BY_HAND) =>
      change(() => {
        const entry = entryOf(model);
        entry.paused = true;
        world.pauses.begin("model", model, words);
        if (entry.remote !== null || unload(entry, "drain", words.who, false)) return;
        stayByHand(parts, entry, "drain", words.who);
      }),
    logs: async (model, lines) => entryOf(model).backend.logs(model, lines),
  };
}

function decide({ world, devices, book }: OperatorParts, device: DeviceUnit, byHand: ByHand, who: string): Decision {
  const snapshot = snapshotOf(device, devices, world);
  return book.byHand(device, verdictByHand(snapshot, world.settings.policy, byHand), who);
}

/** An act that moves nothing, written under where the model is or would be. */
function stayByHand(parts: OperatorParts, { spec }: ModelEntry, act: ByHand["act"], who: string): void {
  const { devices } = parts;
  const home =
    devices.find((device) => device.find(spec.name) !== null || device.move?.load === spec.name) ??
    devices.find((device) => spec.devices.includes(device.spec.id));
  if (home !== undefined) decide(parts, home, { act, model: spec.name }, who);
}

type TakeOut = Required<Pick<ByHand, "force">> & { readonly act: "unload" | "drain" };

/** From every device that has it or loads it, each by a decision of its own; false: it was on none. */
function takeOut(parts: OperatorParts, model: ModelName, { act, force }: TakeOut, who: string): boolean {
  let moved = false;
  for (const device of parts.devices) {
    device.restore = device.restore.filter((each) => each !== model);
    const residency = device.find(model);
    const comes = device.move?.load === model && device.move.decider === device.spec.id;
    // What is loaded across several devices goes from all of them by the first one's move.
    const goes = residency?.leaving === false;
    if (!comes && !goes) continue;
    const running = residency?.running.size ?? 0;
    const decision = decide(parts, device, { act, model, running, force }, who);
    if (comes) device.callOff();
    if (goes) device.begin(exitOf(model, force, decision));
    moved = true;
  }
  return moved;
}
