// A short stretch of real time in a real process, replayed from its file while the router holds it, and over HTTP.

import { beforeAll, describe, expect, it } from "vitest";
import type { ReplayChoicesWire, ReplayWire } from "../../src/client/wire-live.ts";
import type { ReplayReport } from "../../src/client/wire-replay.ts";
import { terminal } from "../cli/terminal.ts";
import { eventually, pause, type RouterProcess, serve, tempFolder } from "./process.ts";
import { ASYNC, ask, CHAT, chatBody, type Reply } from "./wire.ts";

let router: RouterProcess;

const model = {
  concurrency: 4,
  loadSeconds: 1,
  backend: { driver: "mock", loadSeconds: 1, unloadSeconds: 0.2, firstTokenSeconds: 0.1, tokensPerSecond: 50 },
};
const config = {
  log: { level: "warn" },
  scheduler: { policy: "model-score", minResidencySeconds: 1, maxWaitSeconds: 30 },
  models: { "m/a": model, "m/b": model },
};

/** Two services that take turns, three rounds of a dozen jobs each. */
beforeAll(async () => {
  router = await serve({ config, folder: tempFolder() });
  for (let round = 0; round < 6; round++) {
    const name = round % 2 === 0 ? "m/a" : "m/b";
    for (let i = 0; i < 12; i++) {
      const body = chatBody(name, { max_tokens: 20 + ((i * 37) % 60) });
      const reply = await ask(router.origin, CHAT, { body, headers: { ...ASYNC, "sir-lease": "none" } });
      expect(reply.status).toBe(202);
    }
    await pause(1_500);
  }
  await eventually(async () => {
    const reply = await ask(router.origin, "/v1/jobs?status=queued,in_progress", { method: "GET" });
    expect(reply.json()).toMatchObject({ data: [] });
  }, 60_000);
  await pause(1_500);
});

async function replayed(...words: string[]): Promise<ReplayReport> {
  const console = terminal({ cwd: router.folder });
  console.clock.jumpWall(Date.now() - console.clock.wallMs());
  const code = await console.run("replay", "--from", "1h", "--json", ...words);
  expect([code, code === 0 ? "" : console.err()]).toEqual([0, ""]);
  return JSON.parse(console.out()) as ReplayReport;
}

describe("a real router's short past", () => {
  it("replays with the swaps and, within the stated error, the waits that were, while the router holds its store", async () => {
    const report = await replayed("--store", `sqlite:${router.databasePath}`, "--check", "--policy", "fifo");

    expect(report.jobs).toBe(72);
    expect(report.fidelity).toMatchObject({ faithful: true });
    expect(report.fidelity?.recordedSwaps).toBeGreaterThanOrEqual(3);
    expect(Math.abs((report.fidelity?.replayedSwaps ?? 0) - (report.fidelity?.recordedSwaps ?? 0))).toBeLessThanOrEqual(
      1,
    );
    process.stdout.write(`\nreal process: ${report.fidelity?.sentence}\n`);
    expect(report.accounts.map(({ title }) => title)).toEqual(["recorded", "replayed", "fifo"]);
    expect(report.policy).toBe("model-score");
  });

  it("is read over HTTP as from the file", async () => {
    const file = await replayed("--store", `sqlite:${router.databasePath}`, "--no-fidelity");
    const http = await replayed("--url", router.origin, "--no-fidelity");

    expect(http.accounts[0]?.bands).toEqual(file.accounts[0]?.bands);
    expect(http.accounts[0]?.swaps).toBe(file.accounts[0]?.swaps);
    expect(http.source).toBe(router.origin);
  });

  it("is replayed by the router itself to the letter of the command's document, and refused by key", async () => {
    const span = (await ask(router.origin, "/v1/replays")).json<ReplayChoicesWire>().span;
    const wish = { from_ms: (span?.from_ms ?? 0) - 1_000, to_ms: (span?.to_ms ?? 0) + 5_000 };
    const post = (body: object): Promise<Reply> =>
      ask(router.origin, "/v1/replays", {
        body: JSON.stringify(body),
        headers: { "content-type": "application/json" },
      });

    const begun = await post({ ...wish, set: { maxWaitSeconds: 60 } });
    const second = await post(wish);
    const path = `/v1/replays/${begun.json<ReplayWire>().id}`;
    const over = await eventually(async () => {
      const reply = (await ask(router.origin, path)).json<ReplayWire>();
      expect(reply.status).toBe("completed");
      return reply;
    }, 60_000);
    const refused = await post({ ...wish, set: { maxWaitSecond: 60 } });
    const file = terminal({ cwd: router.folder });
    const times = [new Date(wish.from_ms).toISOString(), new Date(wish.to_ms).toISOString()] as const;
    const words = ["--from", times[0], "--to", times[1], "--set", "maxWaitSeconds=60", "--json"];
    expect(await file.run("replay", "--store", `sqlite:${router.databasePath}`, ...words)).toBe(0);

    expect(begun.status).toBe(202);
    expect([second.status, second.headers["retry-after"]]).toEqual([503, "2"]);
    expect(over.report).toEqual(JSON.parse(file.out()));
    expect(over.recorded_spans?.length).toBeGreaterThan(6);
    expect(refused.status).toBe(400);
    expect(refused.json()).toMatchObject({ error: { code: "invalid_body", param: "set.maxWaitSecond" } });
    expect((await ask(router.origin, "/v1/replays/replay_none")).status).toBe(404);
  });

  it("is too short to tune by, and nothing is put on trial", async () => {
    const trials = async (): Promise<unknown> => (await ask(router.origin, "/admin/tuning", { method: "GET" })).json();
    const before = await trials();
    const console = terminal({ cwd: router.folder });
    console.clock.jumpWall(Date.now() - console.clock.wallMs());

    const code = await console.run(
      "tune",
      "--store",
      `sqlite:${router.databasePath}`,
      "--apply",
      "--url",
      router.origin,
      "--days",
      "1",
    );

    expect(code).toBe(1);
    expect(console.out()).toContain("0 of the last 1 days can be counted, and 5 are needed");
    expect(console.err()).toContain("nothing was applied");
    expect(await trials()).toEqual(before);
  });

  it("takes settings on trial, keeps them through a kill, shows them, and takes them back", async () => {
    const wish = { policy: "model-score", set: { minResidencySeconds: 2 }, base: { minResidencySeconds: 1 } };
    const body = JSON.stringify(wish);
    const headers = { "content-type": "application/json" };
    const foreign = await ask(router.origin, "/admin/tuning", {
      body: JSON.stringify({ ...wish, base: { minResidencySeconds: 9 } }),
      headers,
    });
    const taken = await ask(router.origin, "/admin/tuning", { body, headers });
    await router.kill();
    router = await serve({ config, folder: router.folder });
    const said = async (...words: string[]): Promise<string> => {
      const console = terminal({ cwd: router.folder });
      await console.run("tune", ...words, "--url", router.origin);
      return console.out() + console.err();
    };
    const doctor = terminal({ cwd: router.folder });
    await doctor.run("doctor", "--config", "sir.config.json", "--store", `sqlite:${router.databasePath}`);

    expect(foreign.status).toBe(400);
    expect(taken.status).toBe(201);
    expect(taken.json()).toMatchObject({ object: "tuning", state: "shadow", set: { minResidencySeconds: 2 } });
    expect(doctor.out()).toContain('tuned settings {"minResidencySeconds":2} are tried in shadow');
    expect(await said("--trials")).toMatch(/shadow until .* \{"minResidencySeconds":2\}/);
    expect(await said("--back")).toContain("returned");
    expect(await said("--back")).toContain("No tuned settings are on trial");
  });
});
