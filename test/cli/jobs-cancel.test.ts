// `sir jobs cancel`: one, many, all that match; what is said of those that could not be.

import { beforeAll, describe, expect, it } from "vitest";
import type { CancelList } from "../../src/client/wire-live.ts";
import { type RouterProcess, serve, tempFolder } from "../e2e/process.ts";
import { piped, type Ran } from "./pseudo-terminal.ts";

let router: RouterProcess;
const sir = (...words: string[]): Promise<Ran> => piped(words, { SIR_URL: router.origin });
const plain = (text: string): string => text.replaceAll("\u00a0", " ");

async function submit(model: string): Promise<string> {
  const response = await fetch(`${router.origin}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", prefer: "respond-async, lease=3600" },
    body: JSON.stringify({ model, messages: [{ role: "user", content: "hello" }] }),
  });
  return ((await response.json()) as { id: string }).id;
}

beforeAll(async () => {
  const slow = { driver: "mock", loadSeconds: 0.05, unloadSeconds: 0.05, firstTokenSeconds: 600, tokensPerSecond: 1 };
  const models = { chat: { loadSeconds: 0.05, backend: slow }, code: { loadSeconds: 0.05, backend: slow } };
  router = await serve({ folder: tempFolder(), config: { models } });
  return () => router.kill();
});

describe("sir jobs cancel", () => {
  it("--all asks for --yes with the number, then cancels every page of them and no other, and sums up", async () => {
    const kept = await submit("code");
    const ids = await Promise.all(Array.from({ length: 120 }, () => submit("chat")));

    const asked = await sir("jobs", "cancel", "--all", "--model", "chat");
    const done = await sir("jobs", "cancel", "--all", "--model", "chat", "--yes");
    const again = await sir("jobs", "cancel", "--all", "--model", "chat", "--yes", "--json");

    expect([asked.code, asked.out]).toEqual([2, ""]);
    expect(plain(asked.err)).toContain("That would cancel 120 jobs. Say so with --yes.");
    expect(done.code).toBe(0);
    expect(done.out.trim().split("\n").toSorted()).toEqual(ids.map((id) => `${id}\tcancelled`).toSorted());
    expect(plain(done.err)).toContain("120 jobs were cancelled.");
    expect([again.code, JSON.parse(again.out)]).toMatchObject([0, { object: "list", data: [], has_more: false }]);
    expect((await sir("jobs", "--status", "queued,in_progress", "--json")).out).toContain(kept);
  });

  it("by id leaves what is over as it is, and a job that is not there is an error", async () => {
    const id = await submit("chat");
    const first = await sir("jobs", "cancel", id, "--json");
    const second = await sir("jobs", "cancel", id);
    const missing = await sir("jobs", "cancel", id, `job_${"0".repeat(32)}`);

    const { data } = JSON.parse(first.out) as CancelList;
    expect(data).toEqual([{ id, outcome: "cancelled", status: "cancelled" }]);
    expect([second.code, second.out]).toEqual([0, `${id}\tcancelled\n`]);
    expect(missing.code).toBe(5);
    expect(missing.err).toContain(`There is no job job_${"0".repeat(32)}.`);
  });
});
