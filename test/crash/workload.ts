// Run as a process of its own, under a recorder or until it is killed: the real store accepts jobs in groups, runs some
// and notes each acknowledgement only after its promise has resolved.

import { createHash, randomBytes, randomInt } from "node:crypto";
import { openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { DEFAULT_POOL, type InstanceId, type JobId } from "../../src/domain/ids.ts";
import type { VirtualClock } from "../../src/simulator/virtual-clock.ts";
import { openSqliteStore } from "../../src/store/sqlite/open.ts";
import { SystemClock } from "../../src/system/clock.ts";
import { createIds } from "../../src/system/ids.ts";
import { newJob, settings } from "../store/given.ts";

const [, , directory = "", script = "", synchronous = "FULL", total = "600"] = process.argv;
const clock = new SystemClock();
const ids = createIds(clock);
const owner = ids.next("boot");
const fatal: Error[] = [];
const store = await openSqliteStore({
  ...settings(clock as unknown as VirtualClock, owner, fatal),
  host: "worker",
  path: join(directory, "sir.db"),
  script: new URL(script),
  synchronous: synchronous === "NORMAL" ? "NORMAL" : "FULL",
});
const acks = openSync(join(directory, "run.ack"), "a");
const acknowledge = (line: string): void => {
  writeSync(acks, `${line}\n`);
};

async function accept(): Promise<JobId> {
  const bytes = randomBytes(100 + randomInt(6_000));
  const job = newJob({ id: ids.next("job") });
  const sha256 = createHash("sha256").update(bytes).digest();
  const body = { ...job.body, sizeBytes: bytes.byteLength, sha256, source: { kind: "bytes", bytes } } as const;
  await store.add({ ...job, body });
  acknowledge(`A ${job.id}`);
  return job.id;
}

async function finish(id: JobId): Promise<void> {
  const dispatch = { decision: null, score: null, queueWaitMs: 0, reorder: null };
  const authority = { owner, pool: DEFAULT_POOL, term: 1 };
  const [job] = await store.claim(authority, [{ id, instance: "ins_1" as InstanceId, dispatch }]);
  if (job === null || job === undefined) throw new Error("a job that was accepted could not be claimed");
  const result = { status: 200, headers: {}, body: createHash("sha256").update(id).digest() };
  const end = { firstByteAtMs: null, outcome: "succeeded", detail: null };
  await store.finish({ id, epoch: job.epoch, owner }, { kind: "succeeded", result }, end);
  acknowledge(`F ${id}`);
}

acknowledge("READY");
for (let done = 0; done < Number(total); ) {
  const group = await Promise.all(Array.from({ length: 1 + randomInt(12) }, accept));
  done += group.length;
  const first = group[0];
  if (first !== undefined && randomInt(3) === 0) await finish(first);
  if (randomInt(20) === 0) await store.maintain();
}
// No good-bye: whatever a clean stop would still write must not be needed.
process.kill(process.pid, "SIGKILL");
