// A wall clock that jumps an hour forward and an hour back under a running router, and between two runs: leases, deadlines
// and the order of jobs are not the wall's business. Needs libfaketime (`apt-get install faketime`); skipped without it.

import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { remoteModels, replyWith, startEngine } from "./engine-server.ts";
import { pause, serve, tempFolder } from "./process.ts";
import { PLAIN } from "./recorded-answers.ts";
import { ask, chatBody, receiptOf, submit } from "./wire.ts";

const LIBRARY = ["x86_64-linux-gnu", "aarch64-linux-gnu"]
  .map((target) => `/usr/lib/${target}/faketime/libfaketimeMT.so.1`)
  .find((path) => existsSync(path));
if (LIBRARY === undefined) console.warn("SKIPPED: a wall clock that jumps (libfaketime is not installed)");

const HOUR_SECONDS = 3600;

interface Wall {
  readonly environment: Readonly<Record<string, string>>;
  shift(bySeconds: number): void;
}

function wallIn(folder: string): Wall {
  const file = join(folder, "wall.rc");
  const shift = (bySeconds: number): void => writeFileSync(file, `${bySeconds < 0 ? "" : "+"}${bySeconds}\n`);
  shift(0);
  const environment = {
    LD_PRELOAD: LIBRARY ?? "",
    FAKETIME_TIMESTAMP_FILE: file,
    DONT_FAKE_MONOTONIC: "1",
    FAKETIME_NO_CACHE: "1",
  };
  return { environment, shift };
}

const wallOf = async (origin: string): Promise<number> => {
  const { headers } = await ask(origin, "/healthz");
  return Date.parse(String(headers.date)) / 1000;
};

describe.skipIf(LIBRARY === undefined)("a wall clock that jumps an hour either way", () => {
  it("ends no lease that is polled, ends one that is not, and moves no created_at", async () => {
    const folder = tempFolder();
    const wall = wallIn(folder);
    const engine = await startEngine(() => undefined);
    const config = { jobs: { leaseSeconds: 4, sweepSeconds: 0.2 }, models: remoteModels(engine, ["m"]) };
    const router = await serve({ config, folder, environment: wall.environment });
    const { origin } = router;
    const kept = await submit(origin, chatBody("m"), { "cancel-after": "10m" });
    const received = await engine.request();
    const startedAt = await wallOf(origin);
    const polls = async (count: number): Promise<number[]> => {
      const created: number[] = [];
      for (let poll = 0; poll < count; poll++) {
        await pause(200);
        const receipt = await receiptOf(origin, kept.id);
        expect(receipt.status).toBe("in_progress");
        created.push(receipt.created_at);
      }
      return created;
    };

    wall.shift(HOUR_SECONDS);
    const createdForward = await polls(8);
    const forwardAt = await wallOf(origin);
    const abandoned = await submit(origin, chatBody("m"));
    wall.shift(-HOUR_SECONDS);
    const createdBack = await polls(24);
    const backAt = await wallOf(origin);
    const late = await submit(origin, chatBody("m"));
    replyWith(200, PLAIN)(received);
    const end = await receiptOf(origin, kept.id, 5);
    const gone = await receiptOf(origin, abandoned.id);
    const list = (await ask(origin, "/v1/jobs")).json<{ data: { id: string }[] }>();

    // The premise: the wall did move.
    expect(forwardAt - startedAt).toBeGreaterThan(HOUR_SECONDS - 60);
    expect(forwardAt - backAt).toBeGreaterThan(2 * HOUR_SECONDS - 60);
    expect(new Set([...createdForward, ...createdBack, end.created_at])).toEqual(new Set([kept.created_at]));
    expect(end).toMatchObject({ status: "completed", attempts: 1, interruptions: 0 });
    expect(gone).toMatchObject({ status: "cancelled", error: { reason: "lease_expired" } });
    expect(list.data.map(({ id }) => id)).toEqual([late.id, abandoned.id, kept.id]);
    await router.kill();
  });

  it("between two runs loses no job, and new jobs come after old ones", async () => {
    const folder = tempFolder();
    const wall = wallIn(folder);
    const engine = await startEngine(() => undefined);
    const config = { jobs: { leaseSeconds: 30 }, models: remoteModels(engine, ["m"], { concurrency: 1 }) };
    const launch = { config, folder, environment: wall.environment };
    const first = await serve(launch);
    const running = await submit(first.origin, chatBody("m"));
    await engine.request();
    const queued = await submit(first.origin, chatBody("m"));
    await first.kill();
    engine.answer = replyWith(200, PLAIN);

    wall.shift(-HOUR_SECONDS);
    const second = await serve(launch);
    const later = await submit(second.origin, chatBody("m"));
    const ends = await Promise.all([running, queued, later].map(({ id }) => receiptOf(second.origin, id, 10)));
    const list = (await ask(second.origin, "/v1/jobs")).json<{ data: { id: string }[] }>();

    expect(ends.map(({ status }) => status)).toEqual(["completed", "completed", "completed"]);
    expect(ends.map(({ interruptions }) => interruptions)).toEqual([1, 0, 0]);
    expect(list.data.map(({ id }) => id)).toEqual([later.id, queued.id, running.id]);
    for (const end of ends) expect((end.completed_at ?? 0) - end.created_at).toBeGreaterThanOrEqual(0);
    await second.kill();
  });
});
