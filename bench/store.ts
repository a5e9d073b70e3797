// What group commit is worth: durable accepts per second at the store with 256 in flight, many jobs to a commit against
// one. Nine interleaved pairs and the median of their ratios, because a disk's speed wanders more than the difference.

import { createHash, randomBytes } from "node:crypto";
import { join } from "node:path";
import { DEFAULT_POOL, type JobId, LOCAL_CALLER, type ModelName } from "../src/domain/ids.ts";
import { openSqliteStore } from "../src/store/sqlite/open.ts";
import type { NewJob, Store } from "../src/store/store.ts";
import { SystemClock } from "../src/system/clock.ts";
import { createIds } from "../src/system/ids.ts";
import type { Bench, Figure } from "./figure.ts";
import { median } from "./statistics.ts";

const IN_FLIGHT = 256;
const PAIRS = 9;
const SLICE_MS = 700;
const BODY_BYTES = 1_024;

export const storeBench: Bench = {
  name: "store",
  title: `Durable accepts at the store, ${IN_FLIGHT} in flight, bodies of ${BODY_BYTES} bytes, ${PAIRS} pairs`,
  run: ({ folder, progress }) => measure(folder, progress),
};

async function measure(directory: string, progress: (text: string) => void): Promise<readonly Figure[]> {
  const clock = new SystemClock();
  const ids = createIds(clock);
  const bytes = randomBytes(BODY_BYTES);
  const sha256 = createHash("sha256").update(bytes).digest();
  const make = (): NewJob => newJob(ids.next("job"), bytes, sha256);
  const open = (name: string, maxBatch: number): Promise<Store & { close(): Promise<void> }> =>
    openSqliteStore({
      host: "worker",
      path: join(directory, name, "sir.db"),
      owner: ids.next("boot"),
      clock,
      ranking: { kind: "aging", msPerPoint: 60_000 },
      resultTtlMs: 86_400_000,
      readTtlMs: null,
      maxStoredBytes: 20 * 2 ** 30,
      maxBatch,
      deadlineMs: 600_000,
      onFatal(error) {
        throw error;
      },
    });
  const grouped = await open("grouped", 1_000);
  const ungrouped = await open("ungrouped", 1);
  try {
    const pairs: { grouped: number; ungrouped: number }[] = [];
    await perSecond(grouped, make);
    await perSecond(ungrouped, make);
    for (let i = 0; i < PAIRS; i++) {
      progress(`pair ${i + 1} of ${PAIRS}`);
      const first = i % 2 === 0 ? grouped : ungrouped;
      const a = await perSecond(first, make);
      const b = await perSecond(first === grouped ? ungrouped : grouped, make);
      pairs.push(first === grouped ? { grouped: a, ungrouped: b } : { grouped: b, ungrouped: a });
    }
    return report(pairs);
  } finally {
    await grouped.close();
    await ungrouped.close();
  }
}

/** Keeps 256 accepts in flight for a slice of time. */
async function perSecond(store: Store, make: () => NewJob): Promise<number> {
  const began = performance.now();
  const end = began + SLICE_MS;
  let done = 0;
  const one = async (): Promise<void> => {
    while (performance.now() < end) {
      const added = await store.add(make());
      if (added.kind !== "added") throw new Error(`not accepted: ${added.kind}`);
      done++;
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, one));
  return (done * 1_000) / (performance.now() - began);
}

function report(pairs: readonly { grouped: number; ungrouped: number }[]): readonly Figure[] {
  const ratios = pairs.map((pair) => pair.grouped / pair.ungrouped);
  const range = `pairs from ${Math.min(...ratios).toFixed(1)}x to ${Math.max(...ratios).toFixed(1)}x`;
  return [
    { name: "grouped", value: median(pairs.map((pair) => pair.grouped)), unit: "/s" },
    { name: "one commit for each", value: median(pairs.map((pair) => pair.ungrouped)), unit: "/s" },
    {
      name: "grouped over one commit for each, median of ratios",
      value: median(ratios),
      unit: "x",
      bar: { rule: "at least", value: 10 },
      note: range,
    },
  ];
}

/** A plain durable job with a lease. */
export function newJob(id: JobId, bytes: Uint8Array, sha256: Uint8Array): NewJob {
  return {
    id,
    pool: DEFAULT_POOL,
    caller: LOCAL_CALLER,
    model: "bench" as ModelName,
    endpoint: "/v1/chat/completions",
    priority: 0,
    stream: false,
    leaseMs: 60_000,
    deadlineMs: null,
    traceparent: null,
    clientRequestId: null,
    metadata: {},
    body: {
      contentType: "application/json",
      sizeBytes: bytes.byteLength,
      sha256,
      headers: {},
      modelSpan: null,
      source: { kind: "bytes", bytes },
    },
    idempotency: null,
  };
}
