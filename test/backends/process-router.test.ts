// A whole router over two models that are processes and share one device: swaps under load, a kill of the router, the
// next router, its end. No load overlaps another, none is paid twice, and nothing is left.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type RouterProcess, serve } from "../e2e/process.ts";
import { ask, receiptOf, submit } from "../e2e/wire.ts";
import { engine, naming, routerFolder } from "./engines/rig.ts";

const CHAT = "/v1/chat/completions";

function configOf(folder: string, driver: "process" | "vllm-sleep"): object {
  const knobs = { gpu: join(folder, "gpu"), startsFile: join(folder, "starts"), loadMs: 30, tokenMs: 5 };
  const model = { concurrency: 4, loadSeconds: 0.2, backend: { driver, ...engine(knobs) } };
  return {
    server: { shutdownSeconds: 2 },
    scheduler: { policy: "fifo" },
    models: { a: model, b: model },
  };
}

const bodyFor = (model: string, over: object = {}): string =>
  JSON.stringify({ model, messages: [{ role: "user", content: "hi" }], max_tokens: 4, ...over });

async function answered(router: RouterProcess, model: string): Promise<{ status: number; by: number }> {
  const reply = await ask(router.origin, CHAT, { body: bodyFor(model) });
  return { status: reply.status, by: reply.json<{ pid: number }>().pid };
}

const starts = (folder: string): number[] =>
  readFileSync(join(folder, "starts"), "utf8").trim().split("\n").map(Number);

const running = (folder: string): number[] => naming(join(folder, "gpu"));

async function finished(router: RouterProcess, id: string): Promise<string> {
  return (await receiptOf(router.origin, id, 40)).status;
}

describe.each(["process", "vllm-sleep"] as const)("a router over two models of the driver %s", (driver) => {
  it("swaps under load, is killed, takes its engine over, and leaves nothing behind when it ends", async () => {
    const folder = routerFolder();
    const config = configOf(folder, driver);
    const first = await serve({ config, folder });

    const before = await Promise.all(["a", "b", "a", "b", "a", "b", "b", "a"].map((model) => answered(first, model)));
    const there = await answered(first, "a");
    const back = await answered(first, "b");
    const queued = await Promise.all(
      ["a", "b", "a", "b"].map(async (model) => (await submit(first.origin, bodyFor(model))).id),
    );
    await first.kill();
    const left = running(folder);
    const startsBefore = starts(folder).length;
    const second = await serve({ config, folder });
    const ends = await Promise.all(queued.map((id) => finished(second, id)));
    const after = await Promise.all(["a", "b"].map((model) => answered(second, model)));
    const during = running(folder);
    const exit = await second.stop();

    expect(new Set([...before, there, back, ...after].map(({ status }) => status))).toEqual(new Set([200]));
    expect(ends).toEqual(["completed", "completed", "completed", "completed"]);
    expect(existsSync(join(folder, "gpu.overlap"))).toBe(false);
    expect(left.length).toBeGreaterThan(0);
    expect(during.length).toBeLessThanOrEqual(2);
    if (driver === "vllm-sleep") expect([starts(folder).length, startsBefore]).toEqual([2, 2]);
    expect(exit).toEqual({ code: 0, signal: null });
    expect(running(folder)).toEqual([]);
    expect(readdirSync(join(folder, "data", "engines")).filter((name) => name !== "loads.json")).toEqual([]);
  });

  it("answers from the same process after a kill", async () => {
    const folder = routerFolder();
    const config = configOf(folder, driver);
    const first = await serve({ config, folder });
    const { by } = await answered(first, "b");

    await first.kill();
    const second = await serve({ config, folder });
    const again = await answered(second, "b");
    const exit = await second.stop();

    expect(again).toEqual({ status: 200, by });
    expect(starts(folder)).toEqual([by]);
    expect([exit.code, running(folder)]).toEqual([0, []]);
  });
});
