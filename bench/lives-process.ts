// A store of one checkout in a process of its own: whole lives (accepted, claimed, finished) on the disk, with real syncs,
// for as long as a message asks. Answers with lives a second and the CPU time of each.

import { createHash, randomBytes } from "node:crypto";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { newJob } from "./store.ts";

type Opening = typeof import("../src/store/sqlite/open.ts");
type Clocks = typeof import("../src/system/clock.ts");
type Ids = typeof import("../src/system/ids.ts");
type Names = typeof import("../src/domain/ids.ts");

const IN_FLIGHT = 256;
const BODY_BYTES = 1_024;
/** Between two changes of what the model's queue waits for; a checkout that does not write them down has none. */
const STRETCH_MS = 70;

const [, , checkout = ".", path = "sir.db"] = process.argv;
const from = (file: string): Promise<unknown> => import(pathToFileURL(join(checkout, "src", file)).href);
const { openSqliteStore } = (await from("store/sqlite/open.ts")) as Opening;
const { SystemClock } = (await from("system/clock.ts")) as Clocks;
const { createIds } = (await from("system/ids.ts")) as Ids;
const { DEFAULT_POOL } = (await from("domain/ids.ts")) as Names;

const clock = new SystemClock();
const ids = createIds(clock);
const owner = ids.next("boot");
const store = await openSqliteStore({
  ...{ host: "worker", path, owner, clock, ranking: { kind: "aging", msPerPoint: 60_000 } },
  ...{ resultTtlMs: 86_400_000, readTtlMs: null, maxStoredBytes: 20 * 2 ** 30, maxBatch: 1_000, deadlineMs: 600_000 },
  onFatal(error) {
    throw error;
  },
});
const bytes = randomBytes(BODY_BYTES);
const sha256 = createHash("sha256").update(bytes).digest();
const instance = ids.next("ins" as "boot") as unknown as Parameters<typeof store.claim>[1][number]["instance"];
const dispatch = { decision: null, score: null, queueWaitMs: 0, reorder: null };
const result = { status: 200, headers: { "content-type": "application/json" }, body: bytes };
const attempt = { firstByteAtMs: null, outcome: "succeeded", detail: null };

async function life(): Promise<void> {
  const job = newJob(ids.next("job"), bytes, sha256);
  await store.add(job);
  const [claimed] = await store.claim({ owner, pool: DEFAULT_POOL, term: 1 }, [{ id: job.id, instance, dispatch }]);
  if (claimed === null || claimed === undefined) throw new Error("a job was not claimed");
  await store.finish({ id: job.id, epoch: claimed.epoch, owner }, { kind: "succeeded", result }, attempt);
}

async function lives(forMs: number, changes: boolean): Promise<{ perSecond: number; cpuMs: number }> {
  const before = process.cpuUsage();
  const fromMs = performance.now();
  let done = 0;
  let changed = 0;
  const one = async (): Promise<void> => {
    for (let sinceMs = 0; sinceMs < forMs; sinceMs = performance.now() - fromMs) {
      if (changes && sinceMs > changed * STRETCH_MS) changeCause(changed++);
      await life();
      done++;
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, one));
  const tookMs = performance.now() - fromMs;
  const { user, system } = process.cpuUsage(before);
  return { perSecond: (done * 1_000) / tookMs, cpuMs: (user + system) / 1_000 / done };
}

function changeCause(n: number): void {
  const cause = n % 2 === 0 ? "held" : "loading";
  const about = { rule: null, by: null, device: null, decision: null, fromMs: clock.nowMs(), toMs: null };
  store.append([{ type: "wait.open", wait: { model: newJob(ids.next("job"), bytes, sha256).model, cause, ...about } }]);
}

process.on("message", ({ forMs, changes }: { forMs: number; changes: boolean }) => {
  lives(forMs, changes).then(
    (seen) => process.send?.(seen),
    (error: unknown) => {
      throw error;
    },
  );
});
process.once("disconnect", () => process.exit(0));
process.send?.({ ready: true });
