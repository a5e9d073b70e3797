// `sir-router/client` in every runtime that it is said to run in, before the built router.

import { afterAll, beforeAll, describe, expect, inject, it, vi } from "vitest";
import { eventually, pause, type RouterProcess, serve, tempFolder } from "../e2e/process.ts";
import { type PlainServer, startPlainServer } from "./engine.ts";
import { Program } from "./program.ts";

vi.setConfig({ testTimeout: 180_000 });

const { node20, node24, bun, deno } = inject("installed");
const RUNTIMES = [
  { name: "Node 20", interpreter: node20, flags: [] },
  { name: "Node 24", interpreter: node24, flags: [] },
  { name: "Bun", interpreter: bun, flags: [] },
  { name: "Deno", interpreter: deno, flags: ["run", "--allow-net", "--allow-read", "--allow-env"] },
];

let engine: PlainServer;
let router: RouterProcess;

beforeAll(async () => {
  engine = await startPlainServer();
  const backend = { driver: "remote", baseUrl: `${engine.origin}/v1` };
  router = await serve({ config: { models: { m: { concurrency: 100, backend } } }, folder: tempFolder() });
});

afterAll(() => engine.close());

describe.each(RUNTIMES)("sir-router/client in $name", ({ name, interpreter, flags }) => {
  let program: Program;

  beforeAll(() => {
    program = new Program(interpreter, ["portable.mjs"], flags);
  });
  afterAll(() => program.end());

  const tagOf = (scene: string): string => `${name.replace(" ", "")}-${scene}`;
  const run = (scene: string, waitSeconds: number, until?: Promise<unknown>) => {
    const prompt = `tag=${tagOf(scene)} wait=${waitSeconds}`;
    return program.run({ scene, prompt, baseURL: `${router.origin}/v1` }, until);
  };

  it("waits through a fetch", async () => {
    expect(await run("plain", 40)).toEqual({ value: `echo ${tagOf("plain")}` });
    expect(engine.trace(tagOf("plain"))).toEqual({ requests: 1, cut: 0 });
  });

  it("submits, follows, reads and lists a job", async () => {
    expect(await run("job", 2)).toEqual({
      value: { last: "completed", text: `echo ${tagOf("job")}`, listed: true },
    });
  });

  it("cancels a job, and its waiters hear why", async () => {
    expect(await run("cancel", 60)).toEqual({ value: { status: "cancelled", isCancelled: true, reason: "client" } });
  });

  it("keeps a deadline", async () => {
    expect(await run("deadline", 60)).toEqual({ value: { name: "TimeoutError", code: "deadline_exceeded" } });
  });

  it("cancels the job when it is aborted", async () => {
    const tag = tagOf("abort");
    const asked = eventually(() => expect(engine.trace(tag).requests).toBe(1), 90_000);
    // A job runs before its client has the receipt.
    const settled = asked.then(() => pause(5_000));

    const { error } = await run("abort", 100, settled);

    expect(error?.name).toBe("AbortError");
    await eventually(() => expect(engine.trace(tag)).toEqual({ requests: 1, cut: 1 }), 30_000);
  });
});
