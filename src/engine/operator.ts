// What an operator may ask. Each verb is recorded and takes effect through the same loop as everything else.

import { SirError } from "../domain/errors.ts";
import { LOCAL_CALLER, type ModelName } from "../domain/ids.ts";
import type { Operator } from "./control.ts";
import type { DeviceUnit } from "./device.ts";
import { exitOf } from "./move.ts";
import type { PauseWords } from "./pauses.ts";
import type { EngineWorld, ModelEntry } from "./state.ts";

/** Of a caller in this process. */
const BY_HAND: PauseWords = { who: LOCAL_CALLER, note: null };

export interface OperatorParts {
  readonly world: EngineWorld;
  readonly devices: readonly DeviceUnit[];
  setDraining(draining: boolean): void;
}

export function createOperator({ world, devices, setDraining }: OperatorParts): Operator {
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
  const unload = (model: ModelName, force: boolean): void => {
    const entry = onDevice(model);
    entry.wanted = false;
    entry.standing = false;
    for (const device of devices) {
      device.restore = device.restore.filter((each) => each !== model);
      if (device.move?.load === model) device.callOff();
      if (device.find(model)?.leaving === false) device.begin(exitOf(model, force));
    }
  };
  return {
    load: (model) =>
      change(() => {
        const entry = onDevice(model);
        entry.breaker.reset();
        entry.paused = false;
        world.pauses.end("model", model);
        if (!devices.some((device) => device.find(model) !== null)) entry.wanted = true;
      }),
    unload: (model, force) => change(() => unload(model, force)),
    pin: (model) =>
      change(() => {
        const entry = onDevice(model);
        entry.pinned = true;
        entry.standing = !devices.some((device) => device.find(model) !== null);
      }),
    unpin: (model) =>
      change(() => {
        onDevice(model).pinned = false;
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
        if (entry.remote === null) unload(model, false);
      }),
    logs: async (model, lines) => entryOf(model).backend.logs(model, lines),
  };
}
