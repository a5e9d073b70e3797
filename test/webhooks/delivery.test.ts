// From a job's end to a receiver that trusts it: the real store, real sockets, and time that the test moves.

import Database from "better-sqlite3";
import OpenAI from "openai";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { RouterEvent } from "../../src/domain/event.ts";
import { SystemClock } from "../../src/system/clock.ts";
import { Deliverer } from "../../src/webhooks/deliverer.ts";
import { type Endpoint, endpointId } from "../../src/webhooks/endpoint.ts";
import { added, claimed, ENDED, fenceOf, finished, newJob, openInMemory } from "../store/given.ts";
import { type Receiver, receiver } from "./receiver.ts";

const SECRETS = [1, 2].map((n) => `whsec_${Buffer.alloc(32, n).toString("base64")}`);

/** Waits for what sockets bring about. */
const eventually = <T>(check: () => T | Promise<T>): Promise<T> => vi.waitFor(check, { timeout: 20_000, interval: 10 });

/** Router time that goes on by itself, and jumps when told. */
class JumpingClock extends SystemClock {
  #jumpMs = 0;
  readonly #due = new Set<{ atMs: number; fire: () => void }>();

  override nowMs(): number {
    return super.nowMs() + this.#jumpMs;
  }

  override at(atMs: number, fire: () => void) {
    const entry = { atMs, fire: () => this.#due.delete(entry) && fire() };
    this.#due.add(entry);
    const timer = super.at(atMs, entry.fire);
    return {
      cancel: () => {
        this.#due.delete(entry);
        timer.cancel();
      },
    };
  }

  jump(byMs: number): void {
    this.#jumpMs += byMs;
    for (const entry of [...this.#due]) if (entry.atMs <= this.nowMs()) entry.fire();
  }
}

interface Facts {
  readonly receivers: readonly Receiver[];
  readonly events?: readonly string[];
  readonly over?: Partial<Endpoint>;
}

async function scene({ receivers, events = ["*"], over = {} }: Facts) {
  const endpoints = receivers.map(({ url }) => ({
    ...{ id: endpointId(url), url, label: new URL(url).host, secrets: SECRETS, events, allowPrivate: true },
    ...over,
  }));
  const database = new Database(":memory:");
  const clock = new JumpingClock();
  const subscriptions = endpoints.map(({ id }) => ({ endpoint: id, events }));
  const { store, owner } = await openInMemory({ database, subscriptions, clock: clock as never });
  const emitted: Extract<RouterEvent, { type: "webhook.attempted" }>[] = [];
  const started = () => {
    const deliverer = new Deliverer({
      ...{ store, clock, endpoints },
      emit: (event) => void (event.type === "webhook.attempted" && emitted.push(event)),
    });
    deliverer.start();
    onTestFinished(() => deliverer.close());
    return deliverer;
  };
  onTestFinished(() => clock.stop());
  const first = started();
  const wake = (deliverer = first): void => deliverer.listen({ type: "job.finished" } as RouterEvent);
  return {
    ...{ store, owner, clock, emitted, endpoints, first, started, wake, database },
    async ended(over = {}) {
      const job = await finished(store, owner, "answer", newJob(over));
      wake();
      return job;
    },
    pending: () => store.deliveries.pending(endpoints[0]?.id ?? ""),
  };
}

const client = new OpenAI({ apiKey: "none" });

describe("an event", () => {
  it("is unwrapped by the official client with either secret, and with no other", async () => {
    const hook = await receiver();
    const world = await scene({ receivers: [hook] });

    const job = await world.ended();
    const [came] = await eventually(() => {
      expect(hook.came).toHaveLength(1);
      return hook.came;
    });

    const { headers = {}, body = "" } = came ?? {};
    const wanted = { object: "event", type: "job.completed", data: { id: job.id }, created_at: expect.any(Number) };
    for (const secret of SECRETS) {
      expect(await client.webhooks.unwrap(body, headers as Record<string, string>, secret)).toMatchObject(wanted);
    }
    const wrong = `whsec_${Buffer.alloc(32, 9).toString("base64")}`;
    await expect(client.webhooks.unwrap(body, headers as Record<string, string>, wrong)).rejects.toThrow(/signature/i);
    await expect(client.webhooks.unwrap(`${body} `, headers as Record<string, string>, SECRETS[0])).rejects.toThrow();
    expect(headers["webhook-id"]).toBe((JSON.parse(body) as { id: string }).id);
    expect(headers["webhook-id"]).toMatch(/^evt_[0-9a-f]{32}_job$/);
    await eventually(async () => expect(await world.pending()).toBe(0));
  });

  it("is noted with what it tells, or not at all", async () => {
    const hook = await receiver();
    const world = await scene({ receivers: [hook], events: ["job.failed"] });

    await world.ended();
    const { store } = world;
    const added = await store.add(newJob());
    if (added.kind !== "added") throw new Error(added.kind);
    await store.end(added.job.id, { type: "fail", error: { code: "load_failed", message: "" } });
    await store.end(added.job.id, { type: "cancel", reason: "client" });
    world.wake();

    await eventually(() => expect(hook.came).toHaveLength(1));
    expect(JSON.parse(hook.came[0]?.body ?? "")).toMatchObject({ type: "job.failed", data: { id: added.job.id } });
  });

  it.each([
    ["completed", "application/json", '{"status":"completed"}'],
    ["incomplete", "application/json", '{ "status" : "incomplete" }'],
    ["failed", "application/json", '{"status":"failed"}'],
    [
      "incomplete",
      "text/event-stream",
      'event: response.created\ndata: {}\n\nevent: response.incomplete\ndata: {"a":"event: response.failed"}\n\n',
    ],
    ["completed", "text/event-stream", 'data: {"type":"response.created"}\n\ndata: {"type": "response.completed"}\n\n'],
  ])("of a background response has the name of its end: %s, %s", async (word, type, text) => {
    const world = await scene({ receivers: [await receiver()], events: ["response.*"] });
    const { store, owner } = world;
    const running = await claimed(store, owner, (await added(store, newJob({ origin: "background" }))).id);
    const result = { status: 200, headers: { "content-type": type }, body: Buffer.from(text) };

    await store.finish(fenceOf(running), { kind: "succeeded", result }, ENDED);

    const [delivery] = await store.deliveries.next(world.endpoints[0]?.id ?? "", 1);
    const hex = running.id.slice("job_".length);
    expect(delivery).toMatchObject({ type: `response.${word}`, subject: `resp_${hex}`, event: `evt_${hex}` });
  });

  it("of a plain synchronous request is not told: its caller has the answer", async () => {
    const hook = await receiver();
    const world = await scene({ receivers: [hook] });
    const { job, recorded } = world.store.addVolatile(newJob());
    await recorded;

    await world.store.end(job.id, { type: "cancel", reason: "disconnect" });

    expect(await world.pending()).toBe(0);
  });
});

describe("a receiver that does not take it", () => {
  it("hears of it again under the same id with a new signature, until it does", async () => {
    const hook = await receiver();
    hook.answers = [{ status: 500 }, { status: 302, headers: { location: "/elsewhere" } }, { status: 200 }];
    const world = await scene({ receivers: [hook] });

    await world.ended();
    await eventually(() => expect(world.emitted).toHaveLength(1));
    expect(await world.pending()).toBe(1);
    world.clock.jump(4_000);
    expect(hook.came).toHaveLength(1);
    world.clock.jump(2_100);
    await eventually(() => expect(world.emitted).toHaveLength(2));
    world.clock.jump(6 * 60_000);
    await eventually(() => expect(world.emitted).toHaveLength(3));

    expect(world.emitted.map(({ outcome, status }) => [outcome, status])).toEqual([
      ["failed", 500],
      ["failed", 302],
      ["delivered", 200],
    ]);
    expect(new Set(hook.came.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
    expect(new Set(hook.came.map(({ body }) => body)).size).toBe(1);
    expect(await world.pending()).toBe(0);
  });

  it("is asked again no sooner than it says", async () => {
    const hook = await receiver();
    hook.answers = [{ status: 503, headers: { "retry-after": "3600" } }];
    const world = await scene({ receivers: [hook] });

    await world.ended();
    await eventually(() => expect(world.emitted).toHaveLength(1));
    const [{ dueMs } = { dueMs: 0 }] = await world.store.deliveries.next(world.endpoints[0]?.id ?? "", 1);

    expect(dueMs - world.clock.nowMs()).toBeGreaterThan(3_500_000);
  });

  it("and answers 410 is sent nothing more, what waits included, until a restart", async () => {
    const hook = await receiver();
    hook.answers = [{ status: 410 }];
    const world = await scene({ receivers: [hook] });

    await world.ended();
    await eventually(() => expect(world.emitted.map(({ outcome }) => outcome)).toEqual(["gone"]));
    await world.ended();
    await eventually(async () => expect(await world.pending()).toBe(0));

    expect(hook.came).toHaveLength(1);
  });

  it("is given up after the last attempt", async () => {
    const hook = await receiver();
    hook.answers = [{ status: 500 }];
    const world = await scene({ receivers: [hook] });

    await world.ended();
    for (let attempt = 1; attempt <= 10; attempt++) {
      await eventually(() => expect(world.emitted).toHaveLength(attempt));
      world.clock.jump(30 * 3_600_000);
    }

    expect(world.emitted.at(-1)).toMatchObject({ outcome: "given_up", attempt: 10 });
    await eventually(async () => expect(await world.pending()).toBe(0));
  });
});

it("a receiver that never answers delays nobody else", async () => {
  const [dead, live] = [await receiver(), await receiver()];
  dead.answers = [{ status: 0 }];
  const world = await scene({ receivers: [dead, live] });

  for (let n = 0; n < 20; n++) await world.ended();

  await eventually(() => expect(live.came).toHaveLength(20));
  expect(dead.came.length).toBeLessThanOrEqual(4);
  expect(await world.pending()).toBe(20);
});

it("what a router did not get to is sent by the next one, under the same id", async () => {
  const hook = await receiver();
  hook.answers = [{ status: 0 }, { status: 200 }];
  const world = await scene({ receivers: [hook] });
  await world.ended();
  await eventually(() => expect(hook.came).toHaveLength(1));
  await world.first.close();

  world.started();

  await eventually(() => expect(hook.came).toHaveLength(2));
  expect(hook.came[1]?.headers["webhook-id"]).toBe(hook.came[0]?.headers["webhook-id"]);
  await eventually(async () => expect(await world.pending()).toBe(0));
});

it("a private address is not connected to unless it is allowed, and nothing secret is told about it", async () => {
  const hook = await receiver();
  const world = await scene({ receivers: [hook], over: { allowPrivate: false } });

  await world.ended();
  await eventually(() => expect(world.emitted).toHaveLength(1));

  expect(world.emitted[0]).toMatchObject({ outcome: "failed", status: null });
  expect(hook.came).toEqual([]);
  expect(JSON.stringify(world.emitted)).not.toMatch(/whsec_|token=hidden/);
});
