// What every driver of a server that loads models by itself must do, whatever the server is. Each driver's test calls
// this with a fake of its engine.

import { describe, expect, it } from "vitest";
import type { Driver, LoadProgress } from "../../src/backends/backend.ts";
import { sleepUntil } from "../../src/domain/clock.ts";
import { VirtualClock } from "../../src/simulator/virtual-clock.ts";
import type { FakeServer } from "./fakes/fake-server.ts";
import { backendOf, lossOf, never, passing } from "./model-server-rig.ts";
import { callOf, chatBody, instanceOf, placementOf, Taken } from "./samples.ts";

export interface Case {
  readonly driver: Driver;
  readonly fake: (...names: string[]) => Promise<FakeServer>;
  /** Options that name the fake where the driver needs more than its base URL. */
  readonly options?: (fake: FakeServer) => Record<string, unknown>;
  /** What makes a load fail, and what the error then says. */
  readonly failure: { readonly knob: string; readonly says: RegExp };
}

export function exerciseModelServer({ driver, fake: create, options = () => ({}), failure }: Case): void {
  const given = async () => {
    const clock = new VirtualClock();
    const fake = await create("chat-model", "other-model", "foreign-model");
    const backend = backendOf(driver, fake, { ...options(fake), clock });
    const pass = <T>(promise: Promise<T>): Promise<T> => passing(promise, clock);
    const load = (signal = never()) => backend.start(placementOf("chat-model"), () => undefined, signal);
    const stop = (graceMs = 0) => backend.stop(instanceOf("chat-model"), graceMs, never());
    return { fake, backend, clock, pass, load, stop };
  };

  describe("as a server that loads models itself", () => {
    it("says what it is doing while it loads", async () => {
      const { backend, pass } = await given();
      const phases: LoadProgress["phase"][] = [];

      await pass(backend.start(placementOf("chat-model"), ({ phase }) => phases.push(phase), never()));

      expect(phases[0]).toBe("starting");
      expect(phases).toContain("loading");
      expect(phases.at(-1)).toBe("warming");
    });

    it("tells a first load from a second one, and from one that was not needed", async () => {
      const { fake, pass, load, stop } = await given();

      const first = await pass(load());
      await pass(stop());
      const second = await pass(load());
      await pass(stop());
      fake.set("chat-model", true);
      const third = await pass(load());

      expect([first.tier, second.tier, third.tier]).toEqual(["cold", "warm", "wake"]);
    });

    it("fails a load in the server's own words, and leaves nothing of it", async () => {
      const { fake, backend, pass, load } = await given();
      fake.knobs.failLoads = failure.knob;

      await expect(pass(load())).rejects.toThrow(failure.says);

      expect(fake.loaded()).toEqual([]);
      expect((await backend.logs("chat-model" as never, 50)).length).toBeGreaterThan(0);
    });

    it("says that nobody listens, and does not call it a model's fault", async () => {
      const { fake, pass, load } = await given();

      fake.close();

      await expect(pass(load())).rejects.toThrow(/nothing listens at .*start the server/);
    });

    it("unloads what was still loading when it is given up", async () => {
      const { fake, pass, load } = await given();
      const reached = fake.knobs.loads.close();
      const giveUp = new AbortController();
      const loading = load(giveUp.signal);
      loading.catch(() => undefined);
      await pass(reached);

      giveUp.abort();
      setImmediate(() => fake.knobs.loads.open());

      await expect(pass(loading)).rejects.toThrow("given up");
      expect(fake.loaded()).toEqual([]);
    });

    it("asks for a token before it calls a model loaded, and unloads one that cannot answer", async () => {
      const { fake, pass, load } = await given();

      fake.knobs.inferenceStatus = 500;

      await expect(pass(load())).rejects.toThrow(/request for one token failed: .*500/);
      expect(fake.loaded()).toEqual([]);
    });

    it("waits with an unload until the server lists the model no more", async () => {
      const { fake, pass, load, stop } = await given();
      await pass(load());
      fake.knobs.lingerLists = 3;
      const before = fake.asked.length;

      const stopped = await pass(stop(5_000));

      expect(stopped).toEqual({ memory: "unknown" });
      expect(fake.shown()).toEqual([]);
      expect(fake.asked.length - before).toBeGreaterThan(3);
    });

    it("calls an unload that does not end what it is: the memory is still taken (T5)", async () => {
      const { fake, pass, load, stop } = await given();
      await pass(load());

      fake.knobs.ignoreUnloads = true;

      await expect(pass(stop(10_000))).rejects.toThrow(/would not stop: .* still has chat-model loaded/);
      fake.knobs.ignoreUnloads = false;
      expect(await pass(stop(10_000))).toEqual({ memory: "unknown" });
    });

    it("tells at once of a model that somebody else unloaded (S9)", async () => {
      const { fake, backend, pass, load } = await given();
      const loss = lossOf(backend);
      await pass(load());

      fake.set("chat-model", false);

      const { instance } = instanceOf("chat-model");
      expect(await pass(loss)).toMatchObject({ instance, detail: expect.stringContaining("chat-model") });
      const run = await backend.run(
        instanceOf("chat-model"),
        callOf("/v1/chat/completions", chatBody()),
        new Taken(),
        never(),
      );
      expect(run.kind).toBe("lost");
    });

    it("tells of a server that is gone, and of all that it held", async () => {
      const { fake, backend, pass, load } = await given();
      const loss = lossOf(backend);
      await pass(load());

      fake.close();

      expect((await pass(loss)).detail).toMatch(/is gone: nothing listens/);
    });

    it("does not take silence for a loss, and goes on where it was", async () => {
      const { fake, backend, clock, pass, load, stop } = await given();
      const losses: string[] = [];
      backend.onLost?.((instance) => losses.push(instance));
      await pass(load());

      void fake.knobs.answers.close();
      await pass(sleepUntil(clock, clock.nowMs() + 30_000));
      const silent = await pass(backend.alive(instanceOf("chat-model"), never()));
      fake.knobs.answers.open();

      expect(await pass(backend.alive(instanceOf("chat-model"), never()))).toBe(true);
      expect([silent, losses]).toEqual([false, []]);
      expect(await pass(stop())).toEqual({ memory: "unknown" });
    });

    it("waits out a server that does not answer while it unloads", async () => {
      const { fake, clock, pass, load, stop } = await given();
      await pass(load());

      void fake.knobs.answers.close();
      const stopping = stop(30_000);
      stopping.catch(() => undefined);
      await pass(sleepUntil(clock, clock.nowMs() + 40_000));
      fake.knobs.answers.open();

      expect(await pass(stopping)).toEqual({ memory: "unknown" });
      expect(fake.loaded()).toEqual([]);
    });

    it("answers for one model while another will not go (S7)", async () => {
      const { fake, backend, pass, load } = await given();
      fake.set("other-model", true);
      const [other] = await pass(backend.inspect());
      await pass(load());
      fake.set("other-model", true);
      fake.knobs.ignoreUnloads = true;
      if (other === undefined) throw new Error("nothing found");

      const stopping = backend.stop(other, 60_000, never());
      stopping.catch(() => undefined);
      const run = backend.run(
        instanceOf("chat-model"),
        callOf("/v1/chat/completions", chatBody()),
        new Taken(),
        never(),
      );

      expect((await run).kind).toBe("succeeded");
      await expect(pass(stopping)).rejects.toThrow("would not stop");
    });

    it("finds what an earlier router left, and nothing that is not ours", async () => {
      const { fake, backend, pass } = await given();
      fake.set("chat-model", true);
      fake.set("foreign-model", true);

      const found = await pass(backend.inspect());

      expect(found.map(({ model }) => model)).toEqual(["chat-model"]);
      const [left] = found;
      if (left === undefined) throw new Error("nothing found");
      expect(await pass(backend.alive(left, never()))).toBe(true);
      await pass(backend.stop(left, 1_000, never()));
      expect(fake.loaded()).toEqual(["foreign-model"]);
    });

    it("unloads another model of ours that nobody answers for, before it loads", async () => {
      const { fake, backend, pass, load } = await given();
      fake.set("other-model", true);
      fake.set("foreign-model", true);

      await pass(load());

      expect(fake.loaded()).toContain("chat-model");
      expect(fake.loaded()).not.toContain("other-model");
      expect((await backend.logs("other-model" as never, 5)).length).toBeGreaterThan(0);
    });

    it("leaves another model of ours alone that somebody does answer for", async () => {
      const { fake, backend, pass } = await given();
      fake.set("other-model", true);
      await pass(backend.inspect());

      const before = fake.asked.length;
      await pass(backend.start(placementOf("chat-model"), () => undefined, never()));

      const orders = fake.asked.slice(before).map(({ path, body }) => `${path} ${JSON.stringify(body)}`);
      expect(orders.filter((order) => order.includes("unload") || order.includes('"keep_alive":0'))).toEqual([]);
    });

    it("asks a model that looks stuck for one token", async () => {
      const { fake, backend, pass, load } = await given();
      await pass(load());

      const well = await pass(backend.answers?.(instanceOf("chat-model"), never()) ?? Promise.resolve(null));
      fake.knobs.inferenceStatus = 500;
      const ill = await pass(backend.answers?.(instanceOf("chat-model"), never()) ?? Promise.resolve(null));

      expect([well, ill]).toEqual([true, false]);
    });
  });
}
