// Engines over a change of the configuration: what it brought is watched like the rest, what it took away is not left.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { eventually, serve, writeConfig } from "../e2e/process.ts";
import { ask, CHAT, chatBody } from "../e2e/wire.ts";
import { engine, routerFolder } from "./engines/rig.ts";

function setUp() {
  const folder = routerFolder();
  const backend = { driver: "vllm-sleep", ...engine({ startsFile: join(folder, "starts") }) };
  const config = (...models: string[]) => ({
    server: { shutdownSeconds: 2 },
    scheduler: { policy: "fifo" },
    models: Object.fromEntries(models.map((name) => [name, { loadSeconds: 0.2, backend }])),
  });
  return { folder, config, pids: () => readFileSync(join(folder, "starts"), "utf8").trim().split("\n").map(Number) };
}

const runs = (pid: number): boolean => {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return false;
  }
};

it("the end of an engine of a model that a reload brought is told at once", async () => {
  const { folder, config, pids } = setUp();
  const router = await serve({ config: config("a"), folder });
  writeConfig(folder, config("a", "b"));
  router.signal("SIGHUP");
  await eventually(async () => expect((await ask(router.origin, "/v1/models")).text).toContain('"b"'));
  await ask(router.origin, CHAT, { body: chatBody("b") });
  const [pid = 0] = pids();

  process.kill(pid, "SIGKILL");

  await eventually(() => expect(router.stderr).toMatch(/was killed by SIGKILL/));
  expect((await router.stop()).code).toBe(0);
});

it("an engine that sleeps for a model that a reload took away is ended with the router", async () => {
  const { folder, config, pids } = setUp();
  const router = await serve({ config: config("a", "b"), folder });
  for (const model of ["a", "b"]) await ask(router.origin, CHAT, { body: chatBody(model) });
  writeConfig(folder, config("b"));
  router.signal("SIGHUP");
  await eventually(async () => expect((await ask(router.origin, "/v1/models")).text).not.toContain('"a"'));

  await router.stop();

  expect(pids().map(runs)).toEqual([false, false]);
});
