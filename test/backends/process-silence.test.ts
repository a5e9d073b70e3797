// A process that answers nobody for a while, and is no less alive for that: the server of llama-cpp-python is silent
// while it generates, also for a caller that has left.

import { expect, it } from "vitest";
import { processDriver } from "../../src/backends/process.ts";
import type { Clock } from "../../src/domain/clock.ts";
import { SystemClock } from "../../src/system/clock.ts";
import { engine, load, marked, never, rig } from "./engines/rig.ts";
import { specOf } from "./samples.ts";

const system = new SystemClock();

/** The clock of this machine, which can be set forward. */
function settable(): { clock: Clock; forward(ms: number): void } {
  let aheadMs = 0;
  const clock: Clock = {
    nowMs: () => system.nowMs() + aheadMs,
    wallMs: () => system.wallMs(),
    at: (atMs, fire) => system.at(atMs - aheadMs, fire),
    soon: (fire) => system.soon(fire),
  };
  return {
    clock,
    forward: (ms) => {
      aheadMs += ms;
    },
  };
}

it("is not ended for one look without an answer, but for a minute of them", async () => {
  const { context, placement } = rig();
  const { clock, forward } = settable();
  const member = { spec: specOf("m"), options: processDriver.options.parse(engine()) };
  const backend = processDriver.create([member], { ...context, clock });
  const place = placement("m");
  const instance = await load(backend, place);
  const leader = Math.min(...marked(place.instance));

  process.kill(leader, "SIGSTOP");
  const silent = await backend.alive(instance, never());
  forward(90_000);
  const tooLong = await backend.alive(instance, never());
  process.kill(leader, "SIGCONT");
  const back = await backend.alive(instance, never());
  process.kill(leader, "SIGSTOP");
  const again = await backend.alive(instance, never());
  process.kill(leader, "SIGCONT");

  expect([silent, tooLong, back, again]).toEqual([true, false, true, true]);
  await backend.close();
});
