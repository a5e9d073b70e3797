// What `/v1/status` says of a router that has worked: every figure against what happened, and its words.

import { beforeAll, expect, it } from "vitest";
import type { StatusWire } from "../../src/client/wire-status.ts";
import { given } from "../given.ts";

const SECOND = 1_000;

beforeAll(() => {
  process.env["TZ"] = "UTC";
});

async function world() {
  const at = await given({
    models: {
      chat: { loadMs: 10 * SECOND, tokensPerSecond: 10, slowdownPerJob: 0, config: { concurrency: 2 } },
      coder: { loadMs: 5 * SECOND, tokensPerSecond: 10, slowdownPerJob: 0, config: { label: "Coder 30B" } },
      broken: { loadMs: SECOND, backend: { failLoads: 1_000 }, config: { maxLoadFailures: 3 } },
    },
    policy: "model-score",
    scheduler: { maxWaitSeconds: 60, minResidencySeconds: 20 },
  });
  const status = async (): Promise<StatusWire> => (await (await at.app.request("/v1/status")).json()) as StatusWire;
  const run = (ms: number) => at.clock.runUntil(at.clock.nowMs() + ms);
  return { ...at, status, run };
}

const plain = (text: string | undefined): string => (text ?? "").replaceAll("\u00a0", " ");
const of = (status: StatusWire, id: string) => status.models.find((model) => model.id === id);

it("says what the device does, why, and what comes next, at each stage of a swap", async () => {
  const { arrive, status, run } = await world();
  const said = async () => {
    const { summary, next } = (await status()).devices[0] ?? {};
    return [plain(summary?.text.slice(0, summary.what_length)), summary?.code, plain(next?.text)];
  };
  expect(await said()).toEqual(["Idle. Nothing is loaded and nothing is waiting.", "empty", ""]);

  for (let i = 0; i < 6; i++) arrive("chat", { tokens: 100 });
  await run(4 * SECOND);
  arrive("coder", { tokens: 20 });
  await run(0);
  expect(await said()).toEqual(["Loading chat: 4 s of about 10 s. 6 jobs wait for it.", "loading", ""]);

  await run(7 * SECOND);
  // The look ahead is made after the answer, for the next one.
  await status();
  await run(SECOND);
  const [what, code, next] = await said();
  expect([what, code]).toEqual(["Serving chat: 2 of 2 slots busy, 4 jobs queued for it.", "serving"]);
  expect(next).toMatch(/^Next: Coder 30B; at the latest \d\d:\d\d:\d\d, with every drain at its longest\.$/);
  const { summary, decision } = (await status()).devices[0] ?? {};
  expect(summary?.text.slice(summary.what_length)).toBe(` ${decision?.sentence}`);
  expect(summary?.decision).toBe(decision?.id);
});

it("counts the last hour: what ended, how long it had waited, what loads took, what swaps cost", async () => {
  const { arrive, status, run, runUntilIdle, ofType } = await world();
  for (let i = 0; i < 4; i++) arrive("chat", { tokens: 100 });
  arrive("coder", { tokens: 20 });
  await runUntilIdle();
  await run(5 * SECOND);
  const now = await status();

  const waits = ofType("job.dispatched")
    .filter(({ model }) => model === "chat")
    .map(({ dispatch }) => dispatch.queueWaitMs);
  expect(now.totals).toMatchObject({ waiting: 0, running: 0, done_1h: 5, failed_1h: 0, longest_wait: null });
  expect(of(now, "chat")).toMatchObject({
    driver: "unknown",
    starts: null,
    loads: { count: 1, guess_seconds: 10, failures: [] },
  });
  expect(of(now, "chat")?.loads.last_seconds).toHaveLength(1);
  expect(of(now, "chat")?.loads.median_seconds).toBeCloseTo(10, 0);
  expect(of(now, "chat")?.wait_p95_seconds).toBeCloseTo(Math.max(...waits) / 1_000, 2);
  expect(of(now, "broken")).toMatchObject({ wait_p50_seconds: null, loads: { count: 0, median_seconds: null } });
  const [device] = now.devices;
  expect(device?.swaps_1h).toBe(ofType("decision").filter(({ decision }) => decision.kind === "swap").length);
  expect(device?.swap_share_1h).toBeGreaterThan(0.1);
  expect(device?.swap_share_1h).toBeLessThan(1);
  expect(now.started_at).toBeLessThan(now.at);

  await run(3_700 * SECOND);
  const later = await status();
  expect(later.totals.done_1h).toBe(0);
  expect(of(later, "chat")?.wait_p95_seconds).toBeNull();
  expect(later.devices[0]).toMatchObject({ swap_share_1h: 0, swaps_1h: 0 });
});

it("names the model that cannot be loaded, with its error and its next try, and keeps its failures", async () => {
  const { arrive, status, run } = await world();
  arrive("broken");
  await run(3 * SECOND);
  const now = await status();

  expect(plain(now.devices[0]?.summary.text)).toMatch(
    /broken cannot be loaded \(.+\), next try at \d\d:\d\d:\d\d; 1 job waits for it\.$/,
  );
  expect(of(now, "broken")?.loads.failures[0]?.error).toMatch(/\S/);
  expect(of(now, "broken")?.loads.failures[0]?.error).not.toContain("\n");
  expect(now.totals.longest_wait).toMatchObject({ model: "broken", cause: "model_broken" });
});

it("says the same instants whenever it is asked, so that nobody hears of them again", async () => {
  const { arrive, status, run } = await world();
  for (let i = 0; i < 6; i++) arrive("chat", { tokens: 400 });
  arrive("coder");
  await run(15_000.37);
  const before = await status();
  await run(0.41);
  const after = await status();

  const still = ({ models, devices }: StatusWire) => [
    models.map(({ since, starts, waiting }) => [since, starts, waiting?.since]),
    devices.map(({ since, next, summary }) => [since, next, summary]),
  ];
  expect(still(after)).toEqual(still(before));
});
