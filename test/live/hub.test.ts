// The hub alone, with frames whose making is counted: what each reader is sent, and what nobody is.

import { describe, expect, it } from "vitest";
import type { Change } from "../../src/domain/change.ts";
import type { Clock, Timer } from "../../src/domain/clock.ts";
import type { CallerId, JobId } from "../../src/domain/ids.ts";
import type { Changes, Scope } from "../../src/live/changes.ts";
import { type Content, LiveHub } from "../../src/live/hub.ts";
import { VirtualClock } from "../../src/simulator/virtual-clock.ts";
import { eventsOf } from "../http/watching.ts";

const ANN = "ann" as CallerId;
const BOB = "bob" as CallerId;

/** Says which jobs changed; counts how often it is asked to. */
class Counted implements Content {
  deltas = 0;
  snapshots = 0;
  written = 0;
  bytes = 0;

  async snapshot(scope: Scope, seq: () => number): Promise<string> {
    this.snapshots++;
    return JSON.stringify({ scope, seq: seq() });
  }

  delta(changes: Changes, seq: number): ((scope: Scope) => string) | null {
    const { jobs, more } = changes.jobs(null);
    const any = jobs.length + more + changes.decisions.length + changes.spans.length;
    if (any + changes.jobs(ANN).jobs.length + changes.jobs(BOB).jobs.length === 0) return null;
    this.deltas++;
    return (scope) => {
      this.written++;
      const seen = changes.jobs(scope);
      return JSON.stringify({ seq, jobs: seen.jobs.map(({ id }) => id), more: seen.more, pad: "x".repeat(this.bytes) });
    };
  }

  forget(): void {}
}

/** Takes everything, or nothing until it is told to. */
class Outlet {
  readonly sent: Uint8Array[] = [];
  readonly #takers: (() => void)[] = [];
  ended = false;
  #stalled: boolean;

  constructor(stalled = false) {
    this.#stalled = stalled;
  }

  write(bytes: Uint8Array): Promise<void> {
    this.sent.push(bytes);
    if (!this.#stalled) return Promise.resolve();
    return new Promise((resolve) => void this.#takers.push(resolve));
  }

  end(): void {
    this.ended = true;
  }

  drain(): void {
    this.#stalled = false;
    for (const take of this.#takers.splice(0)) take();
  }

  get text(): string {
    return Buffer.concat(this.sent).toString();
  }

  get told(): string[] {
    return eventsOf(this.text).map(({ event, id }) => `${event} ${id?.split(".")[1] ?? ""}`.trim());
  }
}

let jobs = 0;
function changed(caller: CallerId = ANN): Change & { type: "job" } {
  const id = `job_${String(++jobs).padStart(32, "0")}` as JobId;
  return { type: "job", job: { id, caller } as never };
}

/** Counts the timers that are set. */
function counting(clock: VirtualClock): Clock & { armed: number } {
  const counted = {
    armed: 0,
    nowMs: () => clock.nowMs(),
    wallMs: () => clock.wallMs(),
    soon: (fire: () => void) => clock.soon(fire),
    at: (atMs: number, fire: () => void): Timer => {
      let set = true;
      const over = (): void => {
        if (set) counted.armed--;
        set = false;
      };
      counted.armed++;
      const timer = clock.at(atMs, () => {
        over();
        fire();
      });
      return {
        cancel: () => {
          over();
          timer.cancel();
        },
      };
    },
  };
  return counted;
}

function given() {
  const clock = new VirtualClock();
  const timers = counting(clock);
  const content = new Counted();
  const lags: number[] = [];
  const hub = new LiveHub({ clock: timers, boot: "boot_1", content, onLag: (frames) => void lags.push(frames) });
  const passes = (ms: number): Promise<void> => clock.runUntil(clock.nowMs() + ms);
  const join = async (scope: Scope = null, outlet = new Outlet(), last: string | null = null) => {
    const leave = hub.join(scope, last, outlet);
    await passes(1);
    return { outlet, leave: leave as () => void };
  };
  const happen = async (times = 1, caller?: CallerId): Promise<void> => {
    for (let i = 0; i < times; i++) {
      hub.change(changed(caller));
      await passes(250);
    }
  };
  return { timers, content, hub, lags, passes, join, happen };
}

describe("the hub", () => {
  it("makes and writes one frame for all who watch, and they share its bytes", async () => {
    const { content, join, happen } = given();
    const readers = await Promise.all(Array.from({ length: 50 }, () => join()));

    await happen(4);

    expect([content.deltas, content.written]).toEqual([4, 4]);
    const [first, ...others] = readers.map(({ outlet }) => outlet.sent.at(-1));
    for (const other of others) expect(other).toBe(first);
  });

  it("writes a frame once for each scope, with nobody else's jobs in it", async () => {
    const { content, hub, join, passes } = given();
    const [all, ann, bob, bob2] = [await join(), await join(ANN), await join(BOB), await join(BOB)];
    const [own, other] = [changed(ANN), changed(BOB)];

    hub.change(own);
    hub.change(other);
    await passes(300);

    expect(content.written).toBe(3);
    const seen = ({ outlet }: { outlet: Outlet }): string[] =>
      [own, other].map(({ job }) => job.id).filter((id) => outlet.text.includes(id));
    expect(seen(all)).toEqual([own.job.id, other.job.id]);
    expect(seen(ann)).toEqual([own.job.id]);
    expect(seen(bob)).toEqual([other.job.id]);
    expect(bob2.outlet.sent.at(-1)).toBe(bob.outlet.sent.at(-1));
  });

  it("shows two hundred jobs of a frame and counts the rest once each", async () => {
    const { hub, join, passes } = given();
    const { outlet } = await join();
    const many = Array.from({ length: 300 }, () => changed());

    for (const change of [...many, ...many]) hub.change(change);
    await passes(300);

    const delta = JSON.parse(outlet.text.split("data: ").at(-1) ?? "{}") as { jobs: string[]; more: number };
    expect([delta.jobs.length, delta.more]).toEqual([200, 100]);
  });

  it("gives one who comes back what it missed, in order", async () => {
    const { join, happen, content } = given();
    await join();
    const away = await join();
    await happen(2);
    const last = eventsOf(away.outlet.text).at(-1)?.id ?? null;
    away.leave();
    await happen(3);
    const before = content.written;

    const back = await join(null, new Outlet(), last);
    await happen(1);

    expect(back.outlet.told).toEqual(["delta 4", "delta 5", "delta 6", "delta 7"]);
    expect(content.written).toBe(before + 1);
  });

  it.each([
    ["another router's", (id: string) => id.replace("boot_1", "boot_2"), 0, null],
    ["one older than a minute", (id: string) => id, 62_000, null],
    ["one that is no id", () => "yesterday", 0, null],
    ["one from the future", (id: string) => id.replace(/\d+$/, "99"), 0, null],
    ["that of a scope nobody watched meanwhile", (id: string) => id, 0, BOB],
  ] as const)("shows the whole state to one who comes with %s", async (_, made, awayMs, scope) => {
    const { join, happen, passes } = given();
    await join();
    const away = await join();
    await happen(2);
    const last = eventsOf(away.outlet.text).at(-1)?.id ?? "";
    away.leave();
    for (let ms = 0; ms < awayMs; ms += 1_000) {
      await happen(1);
      await passes(750);
    }
    await happen(1);

    const back = await join(scope, new Outlet(), made(last));

    expect(back.outlet.told[0]).toMatch(/^snapshot/);
  });

  it("starts over when nobody watched for a moment: what happened then was gathered by nobody", async () => {
    const { hub, join, happen } = given();
    const only = await join();
    await happen(2);
    const last = eventsOf(only.outlet.text).at(-1)?.id ?? null;
    only.leave();
    hub.change(changed());

    const back = await join(null, new Outlet(), last);

    expect(back.outlet.told[0]).toMatch(/^snapshot/);
  });

  it("sends nothing to one that lags, and the whole state once it has taken what it had", async () => {
    const { content, lags, join, happen, passes } = given();
    content.bytes = 50_000;
    const slow = await join(null, new Outlet(true));
    const quick = await join();
    await happen(12);
    const held = slow.outlet.sent.length;
    const heldBytes = slow.outlet.sent.reduce((sum, { length }) => sum + length, 0);
    await happen(240);

    // A snapshot and as many frames as go into a quarter of a megabyte.
    expect(held).toBeLessThanOrEqual(8);
    expect(slow.outlet.sent).toHaveLength(held);
    expect(heldBytes).toBeLessThan(256 * 1024 + 60_000);
    expect(quick.outlet.told).toHaveLength(1 + 252);
    // 63 s, one word a minute at most.
    expect(lags).toHaveLength(2);

    slow.outlet.drain();
    await passes(1);
    await happen(2);

    expect(slow.outlet.told.slice(held)).toEqual(["snapshot 253", "delta 254", "delta 255"]);
  });

  it("pings each fifteen seconds, says good-bye at the end, and lets nobody in after it", async () => {
    const { hub, join, passes } = given();
    const { outlet } = await join();
    await passes(46_000);

    hub.close();

    expect(outlet.text.match(/^: ping$/gm)).toHaveLength(3);
    expect(outlet.text.endsWith("event: bye\nretry: 2000\ndata: {}\n\n")).toBe(true);
    expect(outlet.ended).toBe(true);
    expect(hub.join(null, null, new Outlet())).toBeNull();
  });

  it("has room for 64", async () => {
    const { hub, join } = given();
    const readers = [];
    for (let i = 0; i < 64; i++) readers.push(await join());

    expect(hub.join(null, null, new Outlet())).toBeNull();
    readers[0]?.leave();
    expect(hub.join(null, null, new Outlet())).not.toBeNull();
  });

  it("does nothing, and keeps no timer, while nobody watches", async () => {
    const { timers, content, hub, join, passes, happen } = given();
    const readers = [await join(), await join(ANN)];
    await happen(1);
    for (const { leave } of readers) leave();
    for (const { leave } of readers) leave();
    const before = [content.deltas, content.snapshots, content.written];

    for (let i = 0; i < 1_000; i++) hub.change(changed());
    await passes(60_000);

    expect([content.deltas, content.snapshots, content.written]).toEqual(before);
    expect(timers.armed).toBe(0);
    expect(hub.watching).toBe(0);
  });
});
