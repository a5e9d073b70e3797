import { readFileSync } from "node:fs";
import { describe, expect, inject, it } from "vitest";
import { eventually, pause } from "../e2e/process.ts";
import { ask, chatBody, receiptOf, submit } from "../e2e/wire.ts";
import { startDockerd, stopDockerd } from "./dockerd.ts";
import { containerId, containerNames, sharedGpu } from "./rig.ts";
import { answered, routerFor, stateOf } from "./router.ts";

const folder = inject("dockerFolder");
const dockerd = { host: inject("dockerHost"), folder };
const pid = (): number => Number(readFileSync(`${folder}/dockerd.pid`, "utf8"));

if (folder === "")
  console.warn("The machine's own Docker engine is used: nothing restarts or stops it, and these tests are skipped.");

describe.skipIf(folder === "")("a Docker engine that goes away", () => {
  it("is survived in mid-load: the job is answered once the engine is back, by one container", async () => {
    const gpu = sharedGpu();
    const env = { LOAD_SECONDS: "3" };
    const router = await routerFor({ models: { a: { env }, b: {} }, gpuFolder: gpu.folder });
    const waiting = await submit(router.origin, chatBody("a"));
    await eventually(async () => expect(await containerId("sirtest-a")).not.toBeNull());

    await stopDockerd(dockerd);
    const during = await ask(router.origin, `/v1/jobs/${waiting.id}`);
    await startDockerd(dockerd);

    const receipt = await receiptOf(router.origin, waiting.id, 55);
    expect(during.status).toBe(200);
    expect(receipt.status).toBe("completed");
    expect(gpu.overlaps()).toEqual([]);
    expect(await containerNames()).toEqual(["sirtest-a"]);
    await router.stop();
  });

  it("takes a resident model with it; the next request loads it again", async () => {
    const router = await routerFor({ models: { a: {} } });
    await answered(router.origin, "a");

    await stopDockerd(dockerd);
    await startDockerd(dockerd);

    const receipt = await answered(router.origin, "a");
    expect(receipt.response?.status_code).toBe(200);
    expect(await containerNames()).toEqual(["sirtest-a"]);
    await router.stop();
  });

  it("may hang: nobody else waits for it", async () => {
    const mock = { driver: "mock", loadSeconds: 0.1, firstTokenSeconds: 0.001, tokensPerSecond: 10_000 };
    const site = { models: { a: { own: { device: "gpu0" } } }, devices: { gpu0: {}, gpu1: {} } };
    const router = await routerFor(site, undefined, { other: { device: "gpu1", backend: mock } });
    await answered(router.origin, "other");
    process.kill(pid(), "SIGSTOP");
    const tookMs: number[] = [];
    let waiting = "";
    try {
      waiting = (await submit(router.origin, chatBody("a"))).id;
      await eventually(async () => expect(await stateOf(router.origin, "a")).toBe("loading"));
      for (let round = 0; round < 100; round++) {
        const startMs = performance.now();
        await ask(router.origin, "/v1/chat/completions", { body: chatBody("other") });
        await ask(router.origin, `/v1/jobs/${waiting}`);
        tookMs.push(performance.now() - startMs);
        await pause(20);
      }
      await eventually(async () => expect(await stateOf(router.origin, "a")).not.toBe("loading"), 20_000);
    } finally {
      process.kill(pid(), "SIGCONT");
    }

    // A call that waited for the hanging engine would take seconds; a busy machine takes some of the rest.
    tookMs.sort((a, b) => a - b);
    expect(tookMs[tookMs.length >> 1]).toBeLessThan(100);
    expect(tookMs.at(-1)).toBeLessThan(2_000);
    expect((await receiptOf(router.origin, waiting, 40)).status).toBe("completed");
    await router.stop();
  });
});
