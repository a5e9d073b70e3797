// Engines that fail under a whole router: ones that cannot start, ones that die at work, ones that will not stop.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { eventually, type RouterProcess, serve } from "../e2e/process.ts";
import { ask, CHAT, chatBody, receiptOf, submit } from "../e2e/wire.ts";
import { engine, routerFolder } from "./engines/rig.ts";

interface Models {
  readonly [name: string]: { readonly knobs?: object; readonly backend?: object; readonly model?: object };
}

async function routerOver(models: Models): Promise<{ router: RouterProcess; file: (name: string) => string }> {
  const folder = routerFolder();
  const file = (name: string): string => join(folder, name);
  const entries = Object.entries(models).map(([name, { knobs = {}, backend = {}, model = {} }]) => {
    const paths = { gpu: file("gpu"), startsFile: file(`starts ${name}`), mendedFile: file("mended") };
    return [
      name,
      { loadSeconds: 0.2, ...model, backend: { driver: "process", ...engine({ ...paths, ...knobs }), ...backend } },
    ];
  });
  const config = { server: { shutdownSeconds: 2 }, scheduler: { policy: "fifo" }, models: Object.fromEntries(entries) };
  return { router: await serve({ config, folder }), file };
}

const startsIn = (path: string): number[] =>
  existsSync(path) ? readFileSync(path, "utf8").trim().split("\n").map(Number) : [];

it("an engine that ends at once holds nobody else up, is tried with growing pauses, and serves once it is mended", async () => {
  const { router, file } = await routerOver({ broken: { knobs: { exitCode: 1 } }, good: {} });
  const waiting = await Promise.all(Array.from({ length: 5 }, () => submit(router.origin, chatBody("broken"))));
  const good = await Promise.all(Array.from({ length: 5 }, () => submit(router.origin, chatBody("good"))));

  const served = await Promise.all(good.map(({ id }) => receiptOf(router.origin, id, 30)));
  await eventually(() => expect(startsIn(file("starts broken")).length).toBeGreaterThan(1), 20_000);
  writeFileSync(file("mended"), "");
  const mended = await Promise.all(waiting.map(({ id }) => receiptOf(router.origin, id, 40)));

  expect(new Set(served.map(({ status }) => status))).toEqual(new Set(["completed"]));
  expect(new Set(mended.map(({ status }) => status))).toEqual(new Set(["completed"]));
  expect(startsIn(file("starts broken")).length).toBeLessThan(6);
  expect(router.stderr).toMatch(/ended with exit code 1.*ValueError: no such checkpoint/s);
  expect((await router.stop()).code).toBe(0);
});

it("an engine that is killed at work costs its job a restart and nothing else", async () => {
  const { router, file } = await routerOver({ m: { knobs: { tokenMs: 400 } } });
  const { id } = await submit(router.origin, chatBody("m", { max_tokens: 4 }));
  const at = async (status: string) => expect((await receiptOf(router.origin, id)).status).toBe(status);
  await eventually(() => at("in_progress"));
  const [pid = 0] = startsIn(file("starts m"));

  process.kill(pid, "SIGKILL");

  const ended = await receiptOf(router.origin, id, 40);
  expect(ended.status).toBe("completed");
  expect(startsIn(file("starts m"))).toHaveLength(2);
  // Which of the two is seen first is a matter of luck.
  expect(router.stderr).toMatch(/was killed by SIGKILL|the connection was closed before an answer/);
  expect((await router.stop()).code).toBe(0);
});

it("an engine that ignores its stop lets the rest go on, and nothing is loaded beside it", async () => {
  const stubborn = { knobs: { ignoreTerm: true }, backend: { stopGraceSeconds: 3 } };
  const { router, file } = await routerOver({ stubborn, next: {} });
  await ask(router.origin, CHAT, { body: chatBody("stubborn") });
  const queued = await submit(router.origin, chatBody("next"));
  const tookMs: number[] = [];

  for (let i = 0; i < 15; i++) {
    for (const path of [`/jobs/${queued.id}`, "/metrics", "/v1/models"]) {
      const fromMs = performance.now();
      await ask(router.origin, path);
      tookMs.push(performance.now() - fromMs);
    }
  }
  const during = startsIn(file("starts next"));
  const ended = await receiptOf(router.origin, queued.id, 40);

  expect(during).toEqual([]);
  // The middle one: the machine that runs this may be busy.
  expect(tookMs.sort((a, b) => a - b)[Math.floor(tookMs.length / 2)]).toBeLessThan(100);
  expect(ended.status).toBe("completed");
  expect(existsSync(file("gpu.overlap"))).toBe(false);
  expect((await router.stop()).code).toBe(0);
});
