// Faults that clients of other routers have met, one test for each: named after what went wrong there.

import fc from "fast-check";
import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { type Given as Facts, given } from "../given.ts";

type World = Awaited<ReturnType<typeof given>>;

const CHAT = "/v1/chat/completions";
const bodyFor = (model: string, more: object = {}): string =>
  JSON.stringify({ model, messages: [{ role: "user", content: "hi" }], max_tokens: 4, ...more });

/** A 3 s answer on a resident model. */
const THREE_SECONDS: Facts = {
  models: { m: { loadMs: 100, firstTokenMs: 3_000 } },
  resident: "m",
};

interface Sent {
  readonly answer: Promise<Response>;
  readonly drop: () => void;
}

function send(world: World, body: string, headers: Record<string, string> = {}, path = CHAT): Sent {
  const left = new AbortController();
  const answer = Promise.resolve(
    world.app.request(path, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body,
      signal: left.signal,
    }),
  );
  return { answer, drop: () => left.abort() };
}

/** The unmodified client, with every request that it sends. */
function client(world: World): { openai: OpenAI; posts: string[] } {
  const posts: string[] = [];
  const fetch = async (url: string | URL | Request, init?: RequestInit): Promise<Response> => {
    if (init?.method?.toUpperCase() === "POST") posts.push(String(url));
    return world.app.request(String(url).replace("http://sir", ""), init);
  };
  return { openai: new OpenAI({ baseURL: "http://sir/v1", apiKey: "none", fetch }), posts };
}

async function statuses(world: World): Promise<string[]> {
  const list = await world.answer(world.app.request("/v1/jobs?order=asc"));
  return ((await list.json()) as { data: { status: string }[] }).data.map(({ status }) => status);
}

describe("one header made the client sleep for an hour", () => {
  it("so Retry-After is a whole number from 1 to 60, however long the queue is", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 12 }),
        fc.integer({ min: 0, max: 3_000_000 }),
        fc.integer({ min: 1, max: 60_000 }),
        fc.constantFrom("1.5", "60", "86400", "none"),
        async (queued, loadMs, tokens, lease) => {
          const world = await given({
            models: { a: { loadMs, concurrency: 1 }, b: { loadMs } },
            scheduler: { maxWaitSeconds: 100_000 },
            jobs: { maxQueued: 10 },
          });
          const headers = { prefer: "respond-async", "sir-lease": lease };
          const answers: Response[] = [];
          for (let i = 0; i <= queued; i++) {
            answers.push(await world.answer(send(world, bodyFor("a", { max_tokens: tokens }), headers).answer));
          }
          answers.push(await world.answer(send(world, bodyFor("b"), headers).answer));
          for (const { status, headers } of answers) {
            expect([202, 503]).toContain(status);
            expect(headers.get("retry-after")).toMatch(/^([1-9]|[1-5]\d|60)$/);
          }
          await world.close();
        },
      ),
      { numRuns: 15 },
    );
  });
});

describe("one user action became four generations: a client drops its socket at 1 s of 3 and sends the same again", () => {
  it.each([
    ["with its key", { "idempotency-key": "k" }, { "idempotency-key": "k" }],
    ["as its SDK repeats itself", { "x-stainless-retry-count": "0" }, { "x-stainless-retry-count": "1" }],
  ])("%s: one job, one run, and the last attempt has the answer", async (_how, first, again) => {
    const world = await given(THREE_SECONDS);
    const dropped = send(world, bodyFor("m"), first);
    await world.advance(1_000);
    dropped.drop();
    await world.advance(800);

    const startedAtMs = world.elapsedMs();
    const answer = await world.answer(send(world, bodyFor("m"), again).answer);

    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ choices: [{ finish_reason: "length" }] });
    expect(world.elapsedMs() - startedAtMs).toBeLessThan(2_000);
    expect(world.started()).toHaveLength(1);
    expect(await statuses(world)).toEqual(["completed"]);
  });

  it("with neither: the first job is cancelled, and exactly one more runs", async () => {
    const world = await given(THREE_SECONDS);
    const dropped = send(world, bodyFor("m"));
    await world.advance(1_000);
    dropped.drop();
    await world.advance(800);

    const answer = await world.answer(send(world, bodyFor("m")).answer);

    expect(answer.status).toBe(200);
    expect(world.started()).toHaveLength(2);
    expect(await statuses(world)).toEqual(["cancelled", "completed"]);
  });
});

describe("cancelling what is already over was refused with an untrue reason", () => {
  it("so a cancel is 200 with the final response unchanged, whatever it finds", async () => {
    const world = await given({ models: { m: { loadMs: 60_000 } } });
    const { openai } = client(world);
    const make = () => world.answer(openai.responses.create({ model: "m", input: "hi", background: true }));
    const queued = await make();
    const done = await make();

    const first = await world.answer(openai.responses.cancel(queued.id));
    const second = await world.answer(openai.responses.cancel(queued.id));
    await world.runUntilIdle();
    const third = await world.answer(openai.responses.cancel(queued.id));
    const late = await world.answer(openai.responses.cancel(done.id));

    expect([first.status, late.status]).toEqual(["cancelled", "completed"]);
    expect([second, third]).toEqual([first, first]);
    expect(late.output).toEqual((await world.answer(openai.responses.retrieve(done.id))).output);
    expect(world.started()).toHaveLength(1);
  });

  it("and only what is no background response is refused, with that as the reason", async () => {
    const world = await given(THREE_SECONDS);
    const { openai, posts } = client(world);
    const sync = await world.answer(openai.responses.create({ model: "m", input: "hi" }));

    const error = await world.answer(openai.responses.cancel(sync.id).then(undefined, (reason: unknown) => reason));

    expect(error).toMatchObject({ status: 400, code: "not_background" });
    expect(posts).toHaveLength(2);
  });
});

describe("an abandoned request kept the only slot and everyone else got a 408 to repeat", () => {
  it("so it is released before its first token, the next one runs, and a deadline that passes is a 400 that nobody repeats", async () => {
    const world = await given({ models: { m: { loadMs: 20_000, firstTokenMs: 5_000, concurrency: 1 } } });
    const { openai, posts } = client(world);
    const ask = (deadline: string) =>
      openai.chat.completions.create(
        { model: "m", messages: [{ role: "user", content: "hi" }], max_tokens: 4 },
        { headers: { "cancel-after": deadline } },
      );
    const abandoned = send(world, bodyFor("m", { stream: true }));
    await world.advance(3_000);
    const [next, late] = [ask("60s"), ask("5s").then(undefined, (error: unknown) => error)];
    await world.advance(1_000);
    abandoned.drop();

    const answer = await world.answer(next);
    const error = await world.answer(late);

    expect(answer.choices[0]?.finish_reason).toBe("length");
    expect(error).toBeInstanceOf(OpenAI.BadRequestError);
    expect(error).toMatchObject({ status: 400, code: "job_expired" });
    expect((error as { headers: Headers }).headers.get("x-should-retry")).toBe("false");
    expect(world.started()).toHaveLength(1);
    expect(posts).toHaveLength(2);
    expect((await statuses(world)).toSorted()).toEqual(["cancelled", "completed", "expired"]);
  });
});
