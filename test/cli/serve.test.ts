// `sir serve` around a router: what it prints, how signals reach it, what is said when it cannot start.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type RunningRouter, type StartRouter, serveRouter } from "../../src/cli/serve.ts";
import type { ResolvedConfig } from "../../src/config/resolved.ts";
import { StoreOpenError } from "../../src/store/open-error.ts";
import { terminal } from "./terminal.ts";

let dir = "";
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "sir-serve-"));
  write(["chat"]);
});
afterEach(() => rmSync(dir, { recursive: true }));

function write(models: readonly string[], text?: string): void {
  const entries = models.map((name) => [name, { loadSeconds: 2, backend: { driver: "mock" } }]);
  writeFileSync(join(dir, "sir.config.json"), text ?? JSON.stringify({ models: Object.fromEntries(entries) }));
}

/** A router that does nothing, and remembers what it was told. */
function stub() {
  const reloads: ResolvedConfig[] = [];
  let closes = 0;
  let started = (): void => undefined;
  let fail = (_: Error): void => undefined;
  let finishClose = (): void => undefined;
  const running = new Promise<void>((resolve) => {
    started = resolve;
  });
  const closing = new Promise<void>((resolve) => {
    finishClose = resolve;
  });
  const router: RunningRouter = {
    url: "http://127.0.0.1:8000",
    failed: new Promise((resolve) => {
      fail = resolve;
    }),
    reload: async (config) => void reloads.push(config),
    close: () => {
      closes++;
      return closing;
    },
  };
  const start: StartRouter = async () => {
    started();
    return router;
  };
  return {
    start,
    running,
    reloads,
    closes: () => closes,
    fail: (e: Error) => fail(e),
    finishClose: () => finishClose(),
  };
}

/** Lets promises that are ready run on. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function serving(json = false) {
  const screen = terminal({ cwd: dir });
  const router = stub();
  const code = serveRouter({}, json, screen.io, router.start);
  await router.running;
  await settled();
  return { ...screen, router, code };
}

describe("sir serve", () => {
  it("prints one block on standard output: address, models, devices, policy, store, file", async () => {
    const { out, send, router, code } = await serving();
    router.finishClose();
    send("SIGTERM");
    await code;

    expect(out()).toBe(
      [
        "sir 9.9.9 at http://127.0.0.1:8000/v1",
        "  page    http://127.0.0.1:8000/dashboard/",
        "  models  chat",
        "  devices gpu0",
        "  policy  model-score",
        `  store   sqlite:${join(dir, "data", "sir.db")}`,
        `  config  ${join(dir, "sir.config.json")}`,
      ].join("\n"),
    );
  });

  it.each(["SIGTERM", "SIGINT"] as const)("closes gracefully on %s and exits 0", async (signal) => {
    const { send, router, code, aborted, clock } = await serving();

    send(signal);
    router.finishClose();

    expect(await code).toBe(0);
    expect(router.closes()).toBe(1);
    await clock.runUntil(clock.nowMs() + 60_000);
    expect(aborted).toEqual([]);
  });

  it("ends at once when it is interrupted a second time", async () => {
    const { send, router, aborted } = await serving();

    send("SIGINT");
    await settled();
    send("SIGINT");

    expect(aborted).toEqual([130]);
    router.finishClose();
  });

  it("does not wait for ever for a router that does not end", async () => {
    const { send, clock, aborted, err, router } = await serving();

    send("SIGTERM");
    await settled();
    await clock.runUntil(clock.nowMs() + 60_000);

    expect(aborted).toEqual([1]);
    expect(err()).toContain("did not end in time");
    router.finishClose();
  });

  it("reads the configuration again on SIGHUP and hands it to the router", async () => {
    const { send, router, err, code } = await serving();
    write(["chat", "code"]);

    send("SIGHUP");
    await expect.poll(() => router.reloads.length).toBe(1);

    expect(router.reloads[0]?.engine.models.map(({ name }) => name)).toEqual(["chat", "code"]);
    expect(err()).toContain("2 models");
    send("SIGTERM");
    router.finishClose();
    await code;
  });

  it("says which changes wait for the next start", async () => {
    const { send, router, err, code } = await serving();
    const models = { chat: { loadSeconds: 3, backend: { driver: "mock" } } };
    write([], JSON.stringify({ models, server: { port: 9000 }, jobs: { leaseSeconds: 90 } }));

    send("SIGHUP");
    await expect.poll(err).toContain("next start");

    expect(err().match(/^warning: (\S+) takes effect/gm)).toEqual([
      "warning: server.port takes effect",
      "warning: jobs.leaseSeconds takes effect",
    ]);
    send("SIGTERM");
    router.finishClose();
    await code;
  });

  it("goes on with what it has when the new configuration is refused", async () => {
    const { send, router, err, code } = await serving();
    write([], '{ "modles": {} }');

    send("SIGHUP");
    await expect.poll(err).toContain("was not taken over");

    expect(router.reloads).toEqual([]);
    expect(err()).toContain('Did you mean "models"?');
    send("SIGTERM");
    router.finishClose();
    expect(await code).toBe(0);
  });

  it("ends with a failure when the router can keep no promise any more", async () => {
    const { router, err, code } = await serving();

    router.fail(new Error("the disk is gone"));
    router.finishClose();

    expect(await code).toBe(1);
    expect(err()).toContain("the disk is gone");
  });

  it("prints one JSON document when asked", async () => {
    const { out, send, router, code } = await serving(true);
    router.finishClose();
    send("SIGTERM");
    await code;

    expect(JSON.parse(out())).toMatchObject({ version: "9.9.9", models: ["chat"], policy: "model-score" });
  });
});

describe("a start that fails", () => {
  const errno = (code: string): Error => Object.assign(new Error(`${code}: something at some path`), { code });

  it.each([
    [errno("EADDRINUSE"), "Port 8000 on 127.0.0.1 is in use.", "--port"],
    [errno("EROFS"), "cannot be written", "Mount it writable"],
    [errno("ENOSPC"), "is full", "Free some space"],
    [new Error("wrapped", { cause: errno("EACCES") }), "may not be written by this user", "Give this user the rights"],
    [
      new StoreOpenError("locked", "another router holds /x: process 7, boot_1", "stop it first"),
      "Another router holds /x",
      "Stop it first.",
    ],
  ])("is said in words with a mend: %s", async (error, words, mend) => {
    const { io, err, out } = terminal({ cwd: dir });

    const code = await serveRouter({}, false, io, () => Promise.reject(error));

    expect(code).toBe(1);
    expect(err()).toContain(words);
    expect(err()).toContain(`mend: ${mend}`.slice(0, 6));
    expect(err()).toContain(mend);
    expect(out()).toBe("");
  });

  it("that nobody foresaw is not dressed up as a fault of the caller", async () => {
    const { io } = terminal({ cwd: dir });

    await expect(serveRouter({}, false, io, () => Promise.reject(new TypeError("x is undefined")))).rejects.toThrow(
      TypeError,
    );
  });
});
