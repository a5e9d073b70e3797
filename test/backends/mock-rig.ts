// A mock model that is loaded, on a virtual clock.

import type { z } from "zod";
import type { Call, Outcome } from "../../src/backends/backend.ts";
import type { MockBackend, MockLab } from "../../src/backends/mock/backend.ts";
import { createMockBackend, type mockOptions, mockOptions as schema } from "../../src/backends/mock.ts";
import { VirtualClock } from "../../src/simulator/virtual-clock.ts";
import { instanceOf, placementOf, specOf, Taken } from "./samples.ts";

export interface Landing {
  readonly outcome: Outcome;
  readonly sink: Taken;
  /** From the start of the run. */
  readonly tookMs: number;
}

export interface Rig {
  readonly clock: VirtualClock;
  readonly backend: MockBackend;
  load(): Promise<void>;
  /** Starts a run; time moves only with the clock. */
  launch(call: Call, signal?: AbortSignal): Promise<Landing>;
  /** Starts a run and lets time pass until it has ended. */
  fly(call: Call, signal?: AbortSignal): Promise<Landing>;
}

export const never = new AbortController().signal;

export function rig(options: z.input<typeof mockOptions> = {}, lab: MockLab = {}): Rig {
  const clock = new VirtualClock(1_000_000);
  const backend = createMockBackend(specOf(), schema.parse(options), { clock }, lab);
  const launch = async (call: Call, signal = never): Promise<Landing> => {
    const sink = new Taken(() => clock.nowMs());
    const startMs = clock.nowMs();
    const outcome = await backend.run(instanceOf("chat-model"), call, sink, signal);
    return { outcome, sink, tookMs: clock.nowMs() - startMs };
  };
  return {
    clock,
    backend,
    launch,
    async load() {
      await passing(
        clock,
        backend.start(placementOf("chat-model"), () => {}, never),
      );
    },
    fly: (call, signal) => passing(clock, launch(call, signal)),
  };
}

/** Lets time pass until `promise` has settled. */
export async function passing<T>(clock: VirtualClock, promise: Promise<T>): Promise<T> {
  let settled = false;
  const done = (): void => {
    settled = true;
  };
  promise.then(done, done);
  await clock.runWhile(() => !settled, Number.MAX_SAFE_INTEGER);
  if (!settled) throw new Error("it will never settle: no timer is left");
  return promise;
}
