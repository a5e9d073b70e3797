// Disks that are full or cannot be written, made of small tmpfs mounts; skipped where nobody may mount (not root).

import { spawnSync } from "node:child_process";
import { closeSync, ftruncateSync, mkdirSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { remoteModels, replyWith, startEngine } from "./engine-server.ts";
import { eventually, RouterProcess, serve, tempFolder } from "./process.ts";
import { PLAIN } from "./recorded-answers.ts";
import { ASYNC, ask, CHAT, chatBody, receiptOf, submit } from "./wire.ts";

const mounts: string[] = [];

function mount(options: string): string | null {
  const folder = join(tempFolder(), "disk");
  mkdirSync(folder);
  const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", folder]);
  if (status !== 0) return null;
  mounts.push(folder);
  return folder;
}

const mayMount = process.getuid?.() === 0 && mount("size=1m") !== null;
if (!mayMount) console.warn("SKIPPED: full and read-only disks (only root may mount)");

afterAll(() => {
  for (const folder of mounts) spawnSync("umount", ["-l", folder]);
});

/** Takes every byte that is left; returns how to give them back. */
function fill(folder: string): () => void {
  const path = join(folder, "ballast");
  const file = openSync(path, "w");
  for (const size of [65_536, 4_096, 1]) {
    const block = Buffer.alloc(size, 1);
    try {
      for (;;) writeSync(file, block);
    } catch {
      // Full for blocks of this size.
    }
  }
  return () => {
    ftruncateSync(file, 0);
    closeSync(file);
    rmSync(path);
  };
}

describe.skipIf(!mayMount)("a disk", () => {
  it("that is full: new work gets a 503 that says when to come back, reads go on, and nothing that was accepted is lost", async () => {
    const disk = mount("size=8m") ?? "";
    const engine = await startEngine(() => undefined);
    const models = remoteModels(engine, ["m"], { concurrency: 2 });
    const router = await serve({ config: { models }, folder: tempFolder(), dataFolder: join(disk, "data") });
    const { origin } = router;
    const accepted = [];
    for (let i = 0; i < 5; i++) accepted.push(await submit(origin, chatBody("m", { pad: "x".repeat(2_000) })));
    const running = [await engine.request(0), await engine.request(1)];
    engine.answer = replyWith(200, PLAIN);

    const free = fill(disk);
    const refused = await eventually(async () => {
      const reply = await ask(origin, CHAT, { body: chatBody("m", { pad: "y".repeat(50_000) }), headers: ASYNC });
      expect(reply.status).toBe(503);
      return reply;
    });
    const statuses = await Promise.all(accepted.map(async ({ id }) => (await receiptOf(origin, id)).status));
    const health = await ask(origin, "/healthz");
    // Two answers come while there is no room for them.
    for (const received of running) replyWith(200, PLAIN)(received);
    const again = await ask(origin, CHAT, { body: chatBody("m", { pad: "z".repeat(50_000) }), headers: ASYNC });
    const plain = await ask(origin, CHAT, { body: chatBody("m") });
    free();
    const late = await eventually(() => submit(origin, chatBody("m", { pad: "y".repeat(50_000) })), 15_000);
    const ends = await Promise.all([...accepted, late].map(({ id }) => receiptOf(origin, id, 15)));

    expect(refused.json<{ error: { code: string } }>().error.code).toMatch(/^(storage_full|store_unavailable)$/);
    expect(refused.headers["retry-after"]).toMatch(/^[1-9]\d?$/);
    expect([statuses.filter((status) => status === "in_progress").length, health.status]).toEqual([2, 200]);
    expect([again.status, plain.status, plain.text]).toEqual([503, 200, PLAIN]);
    expect(ends.map(({ status }) => status)).toEqual(ends.map(() => "completed"));
    expect(ends.map(({ response }) => response?.body)).toEqual(ends.map(() => JSON.parse(PLAIN)));
    expect((await router.stop()).code).toBe(0);
  });

  it("that is full takes a large body and a spooled one no better, and leaves no file of them behind", async () => {
    const disk = mount("size=8m") ?? "";
    const engine = await startEngine(replyWith(200, PLAIN));
    const router = await serve({
      config: { models: remoteModels(engine, ["m"]) },
      folder: tempFolder(),
      dataFolder: join(disk, "data"),
    });

    const replies = await Promise.all(
      [3_000_000, 20_000_000].map((size) =>
        ask(router.origin, CHAT, { body: chatBody("m", { pad: "x".repeat(size) }), headers: ASYNC }),
      ),
    );
    const small = await eventually(() => submit(router.origin, chatBody("m")));

    expect(replies[1]?.status).toBe(503);
    expect(replies[1]?.json()).toMatchObject({ error: { code: "storage_full" } });
    expect(await receiptOf(router.origin, small.id, 5)).toMatchObject({ status: "completed" });
    expect((await router.stop()).code).toBe(0);
  });

  it("that cannot be written: the router says so and what to do, and ends", async () => {
    const disk = mount("size=8m") ?? "";
    spawnSync("mount", ["-o", "remount,ro", disk]);
    const models = { m: { backend: { driver: "mock" } } };

    const router = new RouterProcess({ config: { models }, folder: tempFolder(), dataFolder: join(disk, "data") });
    const exit = await router.exited;

    expect(exit).toEqual({ code: 1, signal: null });
    expect(router.stderr).toMatch(/cannot be written/);
    expect(router.stderr).toContain("mend: ");
    expect(router.stderr).not.toMatch(/unexpected|\n\s+at /);
  });

  it("that became read-only between two runs: the same words, and the data are untouched", async () => {
    const disk = mount("size=8m") ?? "";
    const engine = await startEngine(() => undefined);
    const launch = {
      config: { models: remoteModels(engine, ["m"]) },
      folder: tempFolder(),
      dataFolder: join(disk, "data"),
    };
    const first = await serve(launch);
    const { id } = await submit(first.origin, chatBody("m"));
    await first.kill();

    spawnSync("mount", ["-o", "remount,ro", disk]);
    const refused = new RouterProcess(launch);
    const exit = await refused.exited;
    spawnSync("mount", ["-o", "remount,rw", disk]);
    engine.answer = replyWith(200, PLAIN);
    const next = await serve(launch);

    expect([exit.code, refused.stderr]).toEqual([1, expect.stringMatching(/cannot be written[\s\S]*mend: /)]);
    expect(await receiptOf(next.origin, id, 10)).toMatchObject({ status: "completed" });
    await next.stop();
  });
});
