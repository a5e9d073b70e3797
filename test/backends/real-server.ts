// What is tried with the real thing where it can be had: a server of two models, on a port and in a folder of its own.

import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import type { Driver, Instance } from "../../src/backends/backend.ts";
import { sleepUntil } from "../../src/domain/clock.ts";
import { SystemClock } from "../../src/system/clock.ts";
import { backendOf, lossOf, never, type Over } from "./model-server-rig.ts";
import { callOf, instanceOf, placementOf, Taken } from "./samples.ts";

export interface RealServer {
  readonly origin: string;
  readonly folder: string;
  readonly process: ChildProcess;
}

/** Started, and answering at `path`; ended with all its processes when the test is. */
export async function startServer(
  command: (at: { port: number; folder: string }) => readonly string[],
  path: string,
  env: (at: { port: number; folder: string }) => Record<string, string> = () => ({}),
): Promise<RealServer> {
  const at = { port: await freePort(), folder: mkdtempSync(join(tmpdir(), "sir-real-server-")) };
  const [program = "", ...args] = command(at);
  const server = spawn(program, args, {
    stdio: "ignore",
    detached: true,
    env: { PATH: process.env["PATH"], HOME: at.folder, ...env(at) },
  });
  onTestFinished(async () => {
    const ended = new Promise((resolve) => server.once("exit", resolve));
    if (server.exitCode === null && server.signalCode === null) {
      killGroup(server);
      await ended;
    }
    rmSync(at.folder, { recursive: true, force: true });
  });
  const origin = `http://127.0.0.1:${at.port}`;
  await expect.poll(() => answers(origin + path), { timeout: 60_000, interval: 200 }).toBe(true);
  return { origin, folder: at.folder, process: server };
}

export function killGroup(server: ChildProcess): void {
  if (server.pid !== undefined) process.kill(-server.pid, "SIGKILL");
}

async function answers(url: string): Promise<boolean> {
  return fetch(url).then(
    async (response) => {
      await response.arrayBuffer();
      return response.ok;
    },
    () => false,
  );
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}

export interface RealCase {
  readonly driver: Driver;
  readonly start: () => Promise<RealServer>;
  readonly models: readonly [string, string];
  readonly options?: Record<string, unknown>;
  /** As another client would. */
  unloadElsewhere(server: RealServer, model: string): Promise<unknown>;
}

export function exerciseRealServer({ driver, start, models, options = {}, unloadElsewhere }: RealCase): void {
  const [first, second] = models;
  const given = async () => {
    const server = await start();
    const over: Over = { ...options, clock: new SystemClock(), models, watchSeconds: 0.5 };
    const backend = backendOf(driver, server, over);
    const load = async (model: string, signal = never()): Promise<Instance> => {
      await backend.start(placementOf(model), () => undefined, signal);
      return instanceOf(model);
    };
    return { server, backend, load, over };
  };
  const chat = (model: string, over: object = {}) =>
    callOf("/v1/chat/completions", {
      model,
      max_tokens: 8,
      messages: [{ role: "user", content: "Say hello." }],
      ...over,
    });

  it("loads, answers, streams, swaps, and is gone", async () => {
    const { backend, load } = await given();

    const one = await load(first);
    const [plain, streamed] = [new Taken(), new Taken()];
    expect(await backend.run(one, chat(first), plain, never())).toEqual({ kind: "succeeded" });
    expect(await backend.run(one, chat(first, { stream: true }), streamed, never())).toEqual({ kind: "succeeded" });
    await backend.stop(one, 10_000, never());
    const between = await backend.inspect();
    const two = await load(second);
    const other = await backend.run(two, chat(second), new Taken(), never());
    const after = await backend.inspect();
    await backend.stop(two, 10_000, never());

    expect(plain.json).toMatchObject({ choices: [{ message: { content: expect.any(String) } }] });
    expect(streamed.text.trimEnd()).toMatch(/\[DONE\]$/);
    expect(between).toEqual([]);
    expect(other).toEqual({ kind: "succeeded" });
    expect(after.map(({ model }) => model)).toEqual([second]);
    expect(await backend.inspect()).toEqual([]);
    expect(backend.nextTier?.(one.model)).toBe("warm");
  });

  it("is found again by the next router", async () => {
    const { server, load, over } = await given();
    await load(first);

    const later = backendOf(driver, server, over);
    const [left] = await later.inspect();

    expect(left?.model).toBe(first);
    if (left === undefined) return;
    expect(await later.alive(left, never())).toBe(true);
    expect(await later.answers?.(left, never())).toBe(true);
    await later.stop(left, 10_000, never());
    expect(await later.inspect()).toEqual([]);
  });

  it("is told lost when another client unloads it, and when the server is killed", async () => {
    const { server, backend, load } = await given();
    const loss = lossOf(backend);
    await load(first);

    await unloadElsewhere(server, first);
    expect((await loss).detail).toContain(first);

    const gone = lossOf(backend);
    await load(first);
    killGroup(server.process);
    expect((await gone).detail).toMatch(/is gone/);
  });

  it("leaves nothing of a load that is given up", async () => {
    const { backend, load } = await given();
    const giveUp = new AbortController();
    const clock = new SystemClock();

    const loading = load(first, giveUp.signal);
    clock.at(clock.nowMs() + 60, () => giveUp.abort());

    await expect(loading).rejects.toThrow("the load was given up");
    expect(await backend.inspect()).toEqual([]);
    await sleepUntil(clock, clock.nowMs() + 3_000);
    expect(await backend.inspect()).toEqual([]);
  });

  it("says in words that there is no such model", async () => {
    const { server } = await given();
    const over: Over = { ...options, clock: new SystemClock(), models: ["no-such-model"] };
    const backend = backendOf(driver, server, over);

    const load = backend.start(placementOf("no-such-model"), () => undefined, never());

    await expect(load).rejects.toThrow(/has no model no-such-model/);
  });
}
