import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sleepUntil } from "../../src/domain/clock.ts";
import { VirtualClock } from "../../src/simulator/virtual-clock.ts";

describe("the virtual clock", () => {
  it("fires timers in the order of their instants, equal ones in the order of asking", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat({ max: 20 }), { maxLength: 60 }), async (delays) => {
        const clock = new VirtualClock(0);
        const fired: { atMs: number; index: number }[] = [];
        for (const [index, atMs] of delays.entries()) clock.at(atMs, () => fired.push({ atMs: clock.nowMs(), index }));

        await clock.runUntil(20);

        const expected = delays
          .map((atMs, index) => ({ atMs, index }))
          .sort((a, b) => a.atMs - b.atMs || a.index - b.index);
        expect(fired).toEqual(expected);
      }),
    );
  });

  it("moves only when told to", async () => {
    const clock = new VirtualClock(0);
    let fired = false;
    clock.at(0, () => {
      fired = true;
    });

    await clock.settle();

    expect(fired).toBe(false);
    expect(clock.nowMs()).toBe(0);
  });

  it("lets everything react to one instant before it moves to the next", async () => {
    const clock = new VirtualClock(0);
    const seen: string[] = [];
    clock.at(10, () => {
      void Promise.resolve()
        .then(() => Promise.resolve())
        .then(() => seen.push(`reaction at ${clock.nowMs()}`));
      clock.soon(() => seen.push(`soon at ${clock.nowMs()}`));
    });
    clock.at(11, () => seen.push("next"));

    await clock.runUntil(20);

    expect(seen).toEqual(["reaction at 10", "soon at 10", "next"]);
    expect(clock.nowMs()).toBe(20);
  });

  it("forgets a cancelled timer and wakes a sleeper whose signal is aborted", async () => {
    const clock = new VirtualClock(0);
    const abort = new AbortController();
    let woke = false;
    void sleepUntil(clock, 100, abort.signal).then(() => {
      woke = true;
    });
    const timer = clock.at(50, () => {
      throw new Error("cancelled timers do not fire");
    });

    timer.cancel();
    abort.abort();
    await clock.settle();

    expect(woke).toBe(true);
    expect(clock.nextMs()).toBeNull();
  });

  it("refuses to wait for what never comes", async () => {
    const clock = new VirtualClock(0);
    clock.at(1_000, () => undefined);

    const ended = await clock.runWhile(() => true, 500);

    expect(ended).toBe(false);
    expect(clock.nowMs()).toBe(0);
  });

  it("keeps router time when the wall clock jumps", () => {
    const clock = new VirtualClock(1_000);

    clock.jumpWall(-3_600_000);

    expect(clock.nowMs()).toBe(1_000);
    expect(clock.wallMs()).toBe(1_000 - 3_600_000);
  });
});
