// Switching by sleep and wake: what is asked of vLLM in which order, and that nothing it says is believed unproven.

import { writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Backend, Instance } from "../../src/backends/backend.ts";
import { vllmSleep } from "../../src/backends/vllm-sleep.ts";
import { eventually, load, marked, never, type Rig, rig } from "./engines/rig.ts";
import { callOf, chatBody, Taken } from "./samples.ts";

const sleepy = ({ backend }: Rig, model: string, knobs: object = {}, over: object = {}): Backend =>
  backend(model, knobs, over, vllmSleep);

const stop = (backend: Backend, instance: Instance) => backend.stop(instance, 5_000, never());

async function callsOf({ endpoint }: Instance): Promise<unknown> {
  return (await fetch(`${endpoint}/calls`)).json();
}

async function wake(backend: Backend, given: Rig, model: string, phases: string[] = []) {
  const place = given.placement(model);
  const started = await backend.start(
    place,
    ({ phase, progress }) => phases.push(progress === null ? phase : `${phase} ${progress}`),
    never(),
  );
  return { ...place, ...started, epoch: 2 };
}

const ask = (backend: Backend, instance: Instance) =>
  backend.run(instance, callOf("/v1/completions", chatBody()), new Taken(), never());

describe("sleep and wake", () => {
  it("keep the process, wait for its work, and are learned as a tier of their own", async () => {
    const given = rig();
    const engine = sleepy(given, "m");
    const place = given.placement("m");
    const first = await load(engine, place);
    const [pid] = marked(place.instance);
    const tiers = [engine.nextTier?.(place.model)];

    const stopped = await stop(engine, first);
    tiers.push(engine.nextTier?.(place.model));
    const phases: string[] = [];
    const second = await wake(engine, given, "m", phases);

    expect(stopped).toEqual({ memory: "free" });
    expect([...tiers, second.tier]).toEqual(["warm", "wake", "wake"]);
    expect(phases).toEqual(["waking", "warming"]);
    expect(marked(place.instance)).toEqual([pid]);
    expect(await callsOf(second)).toEqual(["/sleep?level=1&mode=wait", "/wake_up"]);
    expect((await ask(engine, second)).kind).toBe("succeeded");
    expect(await ask(engine, first)).toMatchObject({ kind: "lost" });
    expect((await engine.inspect()).map(({ instance }) => instance)).toEqual([second.instance]);
  });

  it("of level 2 get the weights back step by step", async () => {
    const given = rig();
    const engine = sleepy(given, "m", {}, { level: 2 });
    await stop(engine, await load(engine, given.placement("m")));

    const second = await wake(engine, given, "m");

    expect(await callsOf(second)).toEqual([
      "/sleep?level=2&mode=wait",
      "/wake_up?tags=weights",
      "/collective_rpc",
      "/wake_up?tags=kv_cache",
      "/reset_prefix_cache",
    ]);
  });

  it("send nothing to an engine that sleeps, and do not call it alive", async () => {
    const given = rig();
    const engine = sleepy(given, "m");
    const first = await load(engine, given.placement("m"));

    await stop(engine, first);

    expect(await ask(engine, first)).toEqual({ kind: "lost", detail: "the engine is asleep" });
    expect(await engine.alive(first, never())).toBe(false);
    expect(await engine.inspect()).toEqual([]);
  });

  it("never meet work in flight: falling asleep waits for it, and is refused when it does not end", async () => {
    const given = rig();
    const engine = sleepy(given, "m", { tokenMs: 10 });
    const first = await load(engine, given.placement("m"));
    const body = chatBody({ stream: true, max_tokens: 2_000 });
    const leaves = new AbortController();
    const run = engine.run(first, callOf("/v1/chat/completions", body), new Taken(), leaves.signal);

    const refused = await engine.stop(first, 300, never()).then(
      () => "asleep",
      (error: Error) => error.message,
    );
    const calls = await callsOf(first);
    leaves.abort();
    await run;

    expect(refused).toBe("the engine is not put to sleep: 1 requests are still in flight");
    expect(calls).toEqual([]);
    expect(await stop(engine, first)).toEqual({ memory: "free" });
  });
});

describe("an engine that would not sleep", () => {
  it.each([
    ["accepts and never answers", "never answers", "no answer to /sleep in time"],
    ["refuses", "refuses", "it answered /sleep with 500"],
    ["answers 200 and does not sleep", "lies", "does not say that it sleeps"],
  ])("%s: it is ended, and the log says why", async (_words, sleep, why) => {
    const given = rig();
    const engine = sleepy(given, "m", { sleep }, { sleepTimeoutSeconds: 0.4, stopGraceSeconds: 0.5 });
    const place = given.placement("m");
    const first = await load(engine, place);

    const stopped = await stop(engine, first);

    expect(stopped).toEqual({ memory: "unknown" });
    expect(marked(place.instance)).toEqual([]);
    expect((await engine.logs(place.model, 20)).join("\n")).toMatch(
      new RegExp(`falling asleep failed: .*${why}.*ended`),
    );
    expect(engine.nextTier?.(place.model)).toBe("warm");
    expect((await wake(engine, given, "m")).tier).toBe("warm");
  });

  it("has answered 200 and is dead: nothing waits for it, and the next load starts it", async () => {
    const given = rig();
    const engine = sleepy(given, "m", { sleep: "dies" });
    const place = given.placement("m");
    const first = await load(engine, place);

    await stop(engine, first);

    await eventually(() => expect(engine.nextTier?.(place.model)).toBe("warm"));
    const second = await wake(engine, given, "m");
    expect(second.tier).toBe("warm");
    expect((await ask(engine, second)).kind).toBe("succeeded");
  });
});

describe("an engine that would not wake", () => {
  it("is restarted, and says so in phases, tier and log", async () => {
    const given = rig();
    const engine = sleepy(given, "m", { wakeFailsFile: given.file("wake fails") });
    const place = given.placement("m");
    await stop(engine, await load(engine, place));
    writeFileSync(given.file("wake fails"), "");
    const phases: string[] = [];
    const log: string[] = [];
    const leaves = new AbortController();
    const followed = (async () => {
      for await (const line of engine.followLogs?.(place.model, 20, leaves.signal) ?? []) log.push(line);
    })();

    const second = await wake(engine, given, "m", phases);

    leaves.abort();
    await followed;
    const steps = phases.filter((phase) => phase !== "loading 0.5");
    expect(steps).toEqual(["waking", "starting", "loading", "warming"]);
    expect(second.tier).toBe("warm");
    expect(log).toContain("[sir] waking failed: it answered /wake_up with 500; the engine is restarted");
    expect(await engine.logs(place.model, 20)).toContain(
      "[sir] this engine is a restart: waking failed: it answered /wake_up with 500",
    );
    expect(marked(place.instance)).toEqual([]);
    expect((await ask(engine, second)).kind).toBe("succeeded");
  });

  it("is restarted when it makes no token, and the restart has to prove itself too", async () => {
    const given = rig();
    const knobs = { brokenFile: given.file("broken") };
    const engine = sleepy(given, "m", knobs, { wakeTimeoutSeconds: 0.5 });
    const place = given.placement("m");
    await stop(engine, await load(engine, place));
    writeFileSync(given.file("broken"), "");
    const restart = given.placement("m");

    const started = engine.start(restart, () => {}, never());

    await expect(started).rejects.toThrow("a request for one token failed");
    expect([...marked(place.instance), ...marked(restart.instance)]).toEqual([]);
  });

  it("leaves nothing behind when the wake is given up", async () => {
    const given = rig();
    const knobs = { brokenFile: given.file("broken") };
    const engine = sleepy(given, "m", knobs);
    const place = given.placement("m");
    await stop(engine, await load(engine, place));
    writeFileSync(given.file("broken"), "");
    const gives = new AbortController();
    const report = ({ phase }: { phase: string }): void => (phase === "warming" ? gives.abort() : undefined);

    const started = engine.start(given.placement("m"), report, gives.signal);

    await expect(started).rejects.toThrow("given up");
    expect(marked(place.instance)).toEqual([]);
  });
});

describe("what sleeps", () => {
  it("is no more than main memory holds: the one that has slept longest is ended", async () => {
    const given = rig();
    const places = ["a", "b", "c"].map((name) => given.placement(name));
    const engines = ["a", "b", "c"].map((name) => sleepy(given, name, {}, { maxAsleep: 2 }));
    const stopAll = async (): Promise<void> => {
      for (const [i, engine] of engines.entries()) {
        const place = places[i];
        if (place !== undefined) await stop(engine, await load(engine, place));
      }
    };

    await stopAll();

    const alive = places.map(({ instance }) => marked(instance).length);
    expect(alive).toEqual([0, 1, 1]);
    expect(engines.map((engine, i) => engine.nextTier?.(places[i]?.model ?? ("" as never)))).toEqual([
      "warm",
      "wake",
      "wake",
    ]);
  });

  it("is ended with the router", async () => {
    const given = rig();
    const place = given.placement("m");
    const engine = sleepy(given, "m");
    await stop(engine, await load(engine, place));

    await engine.close();

    expect(marked(place.instance)).toEqual([]);
  });

  it("sleeps on under the next router, and is woken by it", async () => {
    const first = rig();
    const place = first.placement("m");
    const engine = sleepy(first, "m");
    await stop(engine, await load(engine, place));
    const next = first.again();
    const other = sleepy(next, "m");

    const found = await other.inspect();
    const tier = other.nextTier?.(place.model);
    const second = await wake(other, next, "m");

    expect([found, tier, second.tier]).toEqual([[], "wake", "wake"]);
    expect(marked(place.instance)).toHaveLength(1);
  });

  it("is started anew when its options have changed meanwhile", async () => {
    const given = rig();
    const place = given.placement("m");
    const engine = sleepy(given, "m");
    await stop(engine, await load(engine, place));
    const changed = sleepy(given, "m", { loadMs: 5 });

    const second = await wake(changed, given, "m");

    expect(second.tier).toBe("cold");
    expect(marked(place.instance)).toEqual([]);
  });
});

describe("its options", () => {
  it("refuse a vLLM that keeps its memory while it sleeps, and a server without the verbs", async () => {
    const given = rig();
    const port = { port: 8001 };
    const bare = vllmSleep.options.safeParse({ command: ["/opt/venv/bin/vllm", "serve", "m"], ...port });
    const right = vllmSleep.options.safeParse({ command: ["vllm", "serve", "m", "--enable-sleep-mode"], ...port });

    expect(bare.error?.issues[0]?.message).toMatch(/^starts vLLM without --enable-sleep-mode/);
    expect(right.success).toBe(true);
    const engine = sleepy(given, "m", { noVerbs: true });
    await expect(engine.start(given.placement("m"), () => {}, never())).rejects.toThrow("does not answer /is_sleeping");
  });
});
