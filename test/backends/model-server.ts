// What every driver of a server that loads models by itself must do, whatever the server is. Each driver's test calls
// this with a fake of its engine.

import { describe, expect, it, onTestFinished } from "vitest";
import type { Backend, Call, Driver, Instance, LoadProgress, Outcome } from "../../src/backends/backend.ts";
import type { Clock } from "../../src/domain/clock.ts";
import { VirtualClock } from "../../src/simulator/virtual-clock.ts";
import { SystemClock } from "../../src/system/clock.ts";
import type { Specimen } from "./contract.ts";
import type { FakeServer } from "./fakes/fake-server.ts";
import { callOf, chatBody, instanceOf, placementOf, specOf, Taken } from "./samples.ts";

export const never = (): AbortSignal => new AbortController().signal;

export interface Over {
  readonly clock: Clock;
  readonly models?: readonly string[];
  readonly [option: string]: unknown;
}

export function backendOf(driver: Driver, fake: { readonly origin: string }, over: Over): Backend {
  const { clock, models = ["chat-model", "other-model"], ...options } = over;
  const parsed = driver.options.parse({ baseUrl: fake.origin, ...options });
  const members = models.map((name) => ({ spec: specOf(name), options: parsed }));
  const backend = driver.create(members, { clock });
  onTestFinished(() => backend.close());
  return backend;
}

/** The next line that the driver writes about the model. */
export async function nextNote(backend: Backend, model = "chat-model"): Promise<string> {
  for await (const line of backend.followLogs?.(specOf(model).name, 0, never()) ?? []) return line;
  return "";
}

/** What the contract of every backend is tried with, on real time. */
export function specimenOf(driver: Driver, fake: FakeServer, over: Omit<Over, "clock"> = {}): Specimen {
  const midway = fake.knobs.streams.close();
  return {
    backend: backendOf(driver, fake, { models: ["chat-model"], ...over, clock: new SystemClock() }),
    placement: placementOf("chat-model"),
    call: () => callOf("/v1/chat/completions", chatBody()),
    streamed: () => callOf("/v1/chat/completions", chatBody({ stream: true })),
    refused: () => callOf("/v1/chat/completions", { model: "chat-model" }),
    passing: (promise) => {
      fake.knobs.streams.open();
      return promise;
    },
    midway: () => midway,
  };
}

/** One backend on a virtual clock, and a way to let time pass. */
export function onVirtualTime(driver: Driver, fake: { readonly origin: string }, over: Omit<Over, "clock"> = {}) {
  const clock = new VirtualClock();
  const backend = backendOf(driver, fake, { models: ["chat-model"], ...over, clock });
  const pass = <T>(promise: Promise<T>): Promise<T> => passing(promise, clock);
  const start = (model = "chat-model", signal = never()) =>
    backend.start(placementOf(model), () => undefined, signal).then(({ endpoint }) => instanceOf(model, endpoint));
  const load = (model?: string): Promise<Instance> => pass(start(model));
  const send = (call: Call, sink = new Taken()): Promise<Outcome> =>
    pass(backend.run(instanceOf("chat-model"), call, sink, never()));
  return { backend, clock, pass, load, send };
}

/** The end of an instance, as the router is told it. */
export function lossOf(backend: Backend): Promise<{ instance: string; detail: string }> {
  return new Promise((resolve) => backend.onLost?.((instance, detail) => resolve({ instance, detail })));
}

/** Moves virtual time from timer to timer, with room for real bytes between them, until the promise has settled. */
export async function passing<T>(promise: Promise<T>, clock: VirtualClock): Promise<T> {
  let settled = false;
  const done = (): void => {
    settled = true;
  };
  promise.then(done, done);
  while (!settled) {
    for (let turn = 0; turn < 50 && !settled; turn++) await new Promise((resolve) => setImmediate(resolve));
    const nextMs = clock.nextMs();
    if (!settled && nextMs !== null) await clock.runUntil(nextMs);
  }
  return promise;
}

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
    return { fake, backend, pass, load, stop };
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
