// Backends of servers that load models themselves, on real and on virtual time, before fakes of those servers.

import { onTestFinished } from "vitest";
import type { Backend, Call, Driver, Instance, Outcome } from "../../src/backends/backend.ts";
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
