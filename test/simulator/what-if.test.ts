import { describe, expect, it } from "vitest";
import { accountOf, fidelityOf } from "../../src/simulator/compare.ts";
import { recordedOutcome } from "../../src/simulator/outcome.ts";
import { recordedWork } from "../../src/simulator/recorded-work.ts";
import { whatIf } from "../../src/simulator/what-if.ts";
import { madeDay, recordTraffic } from "./recorded-day.ts";

describe("a recorded day, run again with the settings that ran", () => {
  it("gives the recorded swaps, and every job starts when it did", async () => {
    console.time("record");
    const traffic = await recordTraffic(madeDay(24), 0, 24);
    console.timeEnd("record");
    const recorded = recordedOutcome(traffic);

    console.time("replay");
    const work = recordedWork(traffic);
    const replayed = await whatIf(traffic, work, { title: "again" });
    console.timeEnd("replay");

    const fidelity = fidelityOf(recorded, replayed);
    console.log(fidelity, accountOf(recorded), accountOf(replayed), work.models, traffic.notes);
    expect(fidelity.replayedSwaps).toBe(fidelity.recordedSwaps);
  }, 120_000);
});
