// What the store says when its router is gone, and a copy of it made while the router goes on.

import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ExplanationWire } from "../../src/client/wire-explain.ts";
import { eventually, serve, tempFolder } from "../e2e/process.ts";
import { piped } from "./pseudo-terminal.ts";

const backend = {
  driver: "mock",
  loadSeconds: 0.5,
  unloadSeconds: 0.1,
  firstTokenSeconds: 0.2,
  tokensPerSecond: 2_000,
};
const config = {
  models: { chat: { label: "Chat", loadSeconds: 0.5, backend }, code: { loadSeconds: 0.5, backend } },
  devices: { gpu0: {} },
};

describe("a store whose router is gone", () => {
  it("explains a job as its router did, and says where the answer comes from", async () => {
    const folder = tempFolder();
    const router = await serve({ folder, config });
    const environment = { SIR_URL: router.origin };
    const sent = await piped(["submit", "-m", "chat", "--json", "-q", "hello"], environment, folder);
    const { data } = JSON.parse((await piped(["jobs", "--json"], environment, folder)).out) as {
      data: { id: string }[];
    };
    const id = data[0]?.id ?? "";
    const live = JSON.parse((await piped(["explain", id, "--json"], environment, folder)).out) as ExplanationWire;
    await router.kill();

    const told = await piped(["explain", id.slice(-12), "--json"], environment, folder);
    const words = await piped(["explain", id], environment, folder);
    const given = await piped(["explain", id, "--store", `sqlite:${router.databasePath}`, "-q"], {}, tempFolder());

    expect([sent.code, told.code, words.code, given.code]).toEqual([0, 0, 0, 0]);
    expect(JSON.parse(told.out)).toEqual(live);
    expect(words.err).toContain("no router answers");
    expect(words.out).toContain(live.summary);
    expect(given.err).toBe("");
  });

  it("counts the time that no router ran to a job that still waits", async () => {
    const folder = tempFolder();
    const slow = { ...backend, firstTokenSeconds: 600 };
    const router = await serve({ folder, config: { models: { chat: { backend: slow } } } });
    const environment = { SIR_URL: router.origin };
    const id = (await piped(["submit", "-m", "chat", "--detach", "-q", "hello"], environment, folder)).out.trim();
    await eventually(async () => {
      const { out } = await piped(["jobs", "show", id, "--json"], environment, folder);
      expect(JSON.parse(out)).toMatchObject({ status: "in_progress" });
    }, 30_000);
    await router.kill();

    const { out } = await piped(["explain", id, "--json"], environment, folder);

    const told = JSON.parse(out) as ExplanationWire;
    expect(told.final).toBe(false);
    expect(told.parts.map(({ cause }) => cause)).toContain("router_down");
    expect(told.parts.reduce((all, { ms }) => all + ms, 0)).toBe(told.total_ms);
  });

  it("lists jobs and decisions, in pages, and says what only a router can do", async () => {
    const folder = tempFolder();
    const router = await serve({ folder, config });
    const environment = { SIR_URL: router.origin };
    for (const model of ["chat", "code", "chat"])
      await piped(["submit", "-m", model, "-q", "hello"], environment, folder);
    await router.kill();
    const sir = (...words: string[]) => piped(words, environment, folder);

    const jobs = JSON.parse((await sir("jobs", "--json", "--limit", "2")).out) as {
      data: { id: string }[];
      has_more: boolean;
    };
    const rest = JSON.parse((await sir("jobs", "--json", "--after", jobs.data[1]?.id ?? "")).out) as typeof jobs;
    const ofModel = JSON.parse((await sir("jobs", "--json", "--model", "code")).out) as typeof jobs;
    const decisions = JSON.parse((await sir("decisions", "--json")).out) as typeof jobs;
    const shown = await sir("decisions", "show", decisions.data[0]?.id ?? "");
    const cancelled = await sir("jobs", "cancel", jobs.data[0]?.id ?? "");

    expect([jobs.data.length, jobs.has_more, rest.data.length, ofModel.data.length]).toEqual([2, true, 1, 1]);
    expect(jobs.data[0]).toMatchObject({
      object: "job",
      status: "completed",
      band: "normal",
      cause: expect.anything(),
    });
    expect(shown.out).toContain("policy model-score");
    expect([cancelled.code, cancelled.out]).toEqual([3, ""]);
    expect(cancelled.err).toContain("No router answers");
  });

  it("is not asked for another machine's router", async () => {
    const folder = tempFolder();
    const router = await serve({ folder, config });
    await piped(["submit", "-m", "chat", "-q", "hello"], { SIR_URL: router.origin }, folder);
    await router.kill();

    const { code } = await piped(["jobs", "--url", "http://sir.invalid:8000"], {}, folder);

    expect(code).toBe(3);
  });
});

describe("sir backup", () => {
  it("copies a store that is being written, whole, with the bodies beside it; a router serves the copy", async () => {
    const folder = tempFolder();
    const router = await serve({ folder, config });
    const environment = { SIR_URL: router.origin };
    const body = { model: "chat", messages: [{ role: "user", content: randomBytes(3_000_000).toString("hex") }] };
    writeFileSync(join(folder, "large.json"), JSON.stringify(body));
    await piped(["submit", "--body", "large.json", "--detach", "-q"], environment, folder);
    let writing = true;
    const load = (async () => {
      while (writing) {
        await fetch(`${router.origin}/v1/chat/completions`, {
          method: "POST",
          headers: { "content-type": "application/json", prefer: "respond-async" },
          body: JSON.stringify({ model: "chat", messages: [{ role: "user", content: "hi" }] }),
        }).then((response) => response.text());
      }
    })();
    const to = join(folder, "copies", "sir.db");

    const { code, out } = await piped(["backup", "--to", to, "--verify", "--json"], environment, folder);
    writing = false;
    await load;
    const again = await piped(["backup", "--to", to], environment, folder);

    const copy = JSON.parse(out) as { path: string; bytes: number; ok: boolean; jobs: number };
    expect([code, copy.path, copy.ok]).toEqual([0, to, true]);
    expect(copy.jobs).toBeGreaterThan(0);
    expect(statSync(to).mode & 0o077).toBe(0);
    expect(readdirSync(join(folder, "copies")).filter((name) => name.includes("partial"))).toEqual([]);
    expect(again.code).toBe(1);
    expect(again.err).toContain("exists already");
    await router.kill();
    const restored = await serve({ folder: tempFolder(), config, dataFolder: join(folder, "copies") });
    const { data } = JSON.parse((await piped(["jobs", "--json"], { SIR_URL: restored.origin })).out) as {
      data: object[];
    };
    expect(data.length).toBeGreaterThan(0);
    await restored.kill();
  });

  it("says that there is no store, with status 5, and leaves nothing behind", async () => {
    const folder = tempFolder();

    const { code, err } = await piped(["backup", "--store", "sqlite:none.db", "--to", "copy/sir.db"], {}, folder);

    expect(code).toBe(5);
    expect(err).toContain("mend:");
    expect(existsSync(join(folder, "copy"))).toBe(false);
  });
});
