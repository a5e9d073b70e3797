import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JobId } from "../../src/domain/ids.ts";
import { ExpiryWheel, Leases } from "../../src/engine/leases.ts";

const id = (n: number): JobId => `job_${n}` as JobId;
const LEASE = 60_000;

describe("the expiry wheel", () => {
  it("gives out each id exactly once, at the first look at or after its last instant", () => {
    const step = fc.oneof(
      fc.record({ type: fc.constant("set" as const), n: fc.nat(5), inMs: fc.integer({ min: 0, max: 9_000 }) }),
      fc.record({ type: fc.constant("delete" as const), n: fc.nat(5) }),
      fc.record({ type: fc.constant("look" as const), afterMs: fc.integer({ min: 0, max: 4_000 }) }),
    );

    fc.assert(
      fc.property(fc.array(step, { maxLength: 200, size: "max" }), (steps) => {
        const wheel = new ExpiryWheel();
        const due = new Map<JobId, number>();
        let nowMs = 1_000_000;
        for (const each of steps) {
          if (each.type === "set") {
            wheel.set(id(each.n), nowMs + each.inMs);
            due.set(id(each.n), nowMs + each.inMs);
          } else if (each.type === "delete") {
            wheel.delete(id(each.n));
            due.delete(id(each.n));
          } else {
            nowMs += each.afterMs;
            const expected = [...due].filter(([, atMs]) => atMs <= nowMs).map(([key]) => key);
            expect(wheel.due(nowMs).toSorted()).toEqual(expected.toSorted());
            for (const key of expected) due.delete(key);
          }
        }
        expect(wheel.size).toBe(due.size);
      }),
    );
  });
});

describe("leases", () => {
  it("lapse after the lease and not a sweep earlier when nobody polls", () => {
    const leases = new Leases();

    leases.grant(id(1), LEASE, 0);

    expect(leases.lapsed(LEASE - 1)).toEqual([]);
    expect(leases.lapsed(LEASE)).toEqual([id(1)]);
  });

  it("are renewed by each poll", () => {
    const leases = new Leases();
    leases.grant(id(1), LEASE, 0);

    leases.renew(id(1), 40_000);

    expect(leases.lapsed(99_999)).toEqual([]);
    expect(leases.lapsed(100_000)).toEqual([id(1)]);
  });

  it("do not run while a socket holds the job, and start anew when it is answered", () => {
    const leases = new Leases();
    leases.grant(id(1), LEASE, 0);

    leases.hold(id(1));
    const meanwhile = leases.lapsed(10 * LEASE);
    leases.release(id(1), 10 * LEASE);

    expect(meanwhile).toEqual([]);
    expect(leases.expiresAtMs(id(1))).toBe(11 * LEASE);
  });

  it("make an orphan of a job that only a socket wanted, and not of one that was accepted to be polled", () => {
    const leases = new Leases();
    leases.hold(id(1));
    leases.grant(id(1), LEASE, 0);
    leases.grant(id(2), LEASE, 0);
    leases.hold(id(2));

    expect(leases.drop(id(1), 10_000, 0)).toBe("orphaned");
    expect(leases.drop(id(2), 0, 0)).toBe("kept");

    expect(leases.isOrphan(id(1))).toBe(true);
    expect(leases.lapsed(10_000)).toEqual([id(1)]);
    expect(leases.expiresAtMs(id(2))).toBe(LEASE);
  });

  it("keep a job while another socket still holds it", () => {
    const leases = new Leases();
    leases.hold(id(1));
    leases.hold(id(1));
    leases.grant(id(1), LEASE, 0);

    expect(leases.drop(id(1), 0, 0)).toBe("kept");
    expect(leases.drop(id(1), 0, 0)).toBe("orphaned");
  });
});
