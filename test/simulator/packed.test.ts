import { describe, expect, it } from "vitest";
import { workloadNamed } from "../../src/simulator/catalogue.ts";
import { homelab } from "../../src/simulator/homelab.ts";
import { entrantNamed, settingsOf } from "../../src/simulator/lineup.ts";
import { replay } from "../../src/simulator/replay.ts";
import { type Score, scoreOf } from "../../src/simulator/score.ts";
import type { Workload } from "../../src/simulator/workload.ts";

const stint = entrantNamed("stint");

async function scored(workload: Workload): Promise<Score> {
  if (stint === null) throw new Error("there is no stint");
  return scoreOf(await replay(workload, settingsOf(stint), { patienceMs: 12 * 3_600_000 }));
}

describe("six services of a household on one card of 80 GiB", () => {
  it("wait a fifth as long when the card holds several models as when it holds one at a time", async () => {
    const alone = homelab({ seed: 2, hours: 24, times: 1 });
    const devices = workloadNamed("homelab-packed")?.make(2, "").devices ?? [];

    const oneAtATime = await scored(alone);
    const packed = await scored({ ...alone, devices });

    expect(devices).toEqual([{ name: "gpu0", memoryGiB: 80 }]);
    expect(packed.unserved + oneAtATime.unserved).toBe(0);
    expect(oneAtATime.weightedMeanWaitSeconds / packed.weightedMeanWaitSeconds).toBeGreaterThan(5);
    expect(packed.swaps).toBeLessThan(oneAtATime.swaps / 5);
  });
});
