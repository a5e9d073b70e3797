// How loads of the process driver go and fail: readiness, phases, tiers, ports, last words.

import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { LoadError } from "../../src/backends/backend.ts";
import { processDriver } from "../../src/backends/process.ts";
import { eventually, load, marked, never, rig } from "./engines/rig.ts";
import { callOf, chatBody, Taken } from "./samples.ts";

async function faultOf(promise: Promise<unknown>): Promise<LoadError> {
  const error = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (error instanceof LoadError) return error;
  throw new Error(`no load error but ${String(error)}`);
}

describe("a load", () => {
  it("tells its phases in order, and how far the weights are", async () => {
    const { backend, placement } = rig();
    const phases: string[] = [];

    await load(backend("m", { loadMs: 800 }), placement("m"), phases);

    expect(phases).toEqual(["starting", "loading", "loading 0.5", "warming"]);
  });

  it("is cold the first time since the machine's boot and warm from then on, also for the next router", async () => {
    const first = rig();
    const a = first.placement("m");
    const one = first.backend("m");

    const cold = await one.start(a, () => {}, never());
    await one.stop({ ...a, endpoint: cold.endpoint, epoch: 1 }, 1_000, never());
    const warm = await one.start(first.placement("m"), () => {}, never());
    await one.close();
    const next = first.again();
    const other = next.backend("m");
    await other.inspect();

    expect([cold.tier, warm.tier, other.nextTier?.(a.model)]).toEqual(["cold", "warm", "warm"]);
    const changed = next.backend("m", { loadMs: 1 });
    expect(changed.nextTier?.(a.model)).toBe("cold");
  });

  it("fails with the log's tail when the engine ends at once, and leaves nothing behind", async () => {
    const { backend, placement, file } = rig();
    const engine = backend("m", { exitCode: 7, mendedFile: file("mended") });
    const place = placement("m");

    const fault = await faultOf(engine.start(place, () => {}, never()));

    expect(fault.message).toMatch(/ended before it could serve: .*node.* ended with exit code 7/);
    expect(fault.logTail).toContain("ValueError: no such checkpoint");
    expect(await engine.inspect()).toEqual([]);
    writeFileSync(file("mended"), "");
    expect((await load(engine, placement("m"))).endpoint).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  });

  it("never shows a secret that the engine printed", async () => {
    const { backend, placement } = rig();
    const engine = backend("m", { exitCode: 1 });

    const fault = await faultOf(engine.start(placement("m"), () => {}, never()));

    expect(fault.logTail.join("\n")).toContain("with key ***");
    expect((await engine.logs(placement("m").model, 50)).join("\n")).not.toContain("hf_secret_value");
  });

  it("goes on until its deadline when health never comes, and then leaves nothing behind", async () => {
    const { backend, placement } = rig();
    const engine = backend("m", { neverHealthy: true, ignoreTerm: true }, { stopGraceSeconds: 0.2 });
    const place = placement("m");
    const deadline = new AbortController();
    const started = faultOf(engine.start(place, () => {}, deadline.signal));
    await eventually(async () => expect(await engine.logs(place.model, 5)).toContain("still compiling"));

    deadline.abort();

    expect((await started).message).toBe("the load was given up");
    expect(marked(place.instance)).toEqual([]);
  });

  it("fails when the engine is healthy and cannot make one token", async () => {
    const { backend, placement, file } = rig();
    writeFileSync(file("broken"), "");
    const place = placement("m");

    const fault = await faultOf(backend("m", { brokenFile: file("broken") }).start(place, () => {}, never()));

    expect(fault.message).toMatch(/a request for one token failed 5 times: \/v1\/completions answered 500/);
    expect(marked(place.instance)).toEqual([]);
  });

  it("says what is missing when there is no such program", async () => {
    const { backend, placement } = rig();
    const engine = backend("m", {}, { command: ["no-such-engine", "--port", "$".concat("{PORT}")] });

    const fault = await faultOf(engine.start(placement("m"), () => {}, never()));

    expect(fault.message).toBe(
      "there is no program no-such-engine: is it installed, and in the PATH that is passed on?",
    );
  });
});

describe("ports", () => {
  it("are never the same for two loads at once", async () => {
    const { backend, placement } = rig();

    const loaded = await Promise.all(["a", "b", "c"].map((name) => load(backend(name), placement(name))));

    expect(new Set(loaded.map(({ endpoint }) => endpoint)).size).toBe(3);
  });

  it("are refused when another program would answer in the engine's place", async () => {
    const { backend, placement } = rig();
    const stranger = createServer().listen(0, "127.0.0.1");
    onTestFinished(() => void stranger.close());
    await new Promise((resolve) => stranger.once("listening", resolve));
    const { port } = stranger.address() as { port: number };

    const fault = await faultOf(backend("m", {}, { port }).start(placement("m"), () => {}, never()));

    expect(fault.message).toBe(
      `port ${port} of 127.0.0.1 cannot be used: another program listens on it; stop what listens on it, or leave out the port`,
    );
  });

  it("have to be told to the engine when they are free ones", () => {
    const told = processDriver.options.safeParse({ command: ["vllm", "serve", "m"] });
    const fixed = processDriver.options.safeParse({ command: ["vllm", "serve", "m"], port: 8000 });

    expect(told.error?.issues.map(({ path, message }) => `${path} ${message}`)).toEqual([
      "port is free, so the engine has to be told: write $".concat("{PORT} where its command or env takes the port"),
    ]);
    expect(fixed.success).toBe(true);
  });
});

describe("what an engine is given", () => {
  it("is the environment that is passed on and its own, without the router's secrets", async () => {
    const { backend, placement, context } = rig();
    Object.assign(context.environment ?? {}, { SIR_API_KEY: "router-key", DATABASE_URL: "x", HF_HOME: "/hf" });
    const place = placement("m");
    const over = { env: { PORT_COPY: "p$".concat("{PORT}") }, deviceEnv: { gpu0: { CUDA_VISIBLE_DEVICES: "3" } } };

    const { endpoint } = await load(backend("m", {}, over), place);
    const [pid] = marked(place.instance);
    const names = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0").filter(Boolean).sort();

    expect(names.filter((each) => !each.startsWith("PATH="))).toEqual([
      "CUDA_VISIBLE_DEVICES=3",
      "HF_HOME=/hf",
      "HF_TOKEN=hf_secret_value",
      `PORT_COPY=p${new URL(endpoint).port}`,
      `SIR_INSTANCE=${place.instance}`,
    ]);
  });

  it("reaches it byte for byte", async () => {
    const { backend, placement } = rig();
    const engine = backend("m");
    const instance = await load(engine, placement("m"));
    const sink = new Taken();

    const outcome = await engine.run(instance, callOf("/v1/completions", chatBody()), sink, never());

    expect([outcome.kind, sink.json]).toMatchObject(["succeeded", { model: "m" }]);
  });
});
