// Lists: jobs and decisions in pages, models in the configuration's order.

import { describe, expect, it } from "vitest";
import type { DecisionList, JobList, ModelList } from "../../src/client/wire.ts";
import type { StatusWire } from "../../src/client/wire-status.ts";
import {
  ANSWER,
  ASK,
  completed,
  type Given,
  get,
  given,
  MODEL,
  nextCall,
  passes,
  post,
  settled,
  submitted,
} from "./given.ts";

async function listOf<T>(world: Given, path: string): Promise<T> {
  const response = await settled(world, get(world, path));
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/json"]);
  return (await response.json()) as T;
}

describe("jobs", () => {
  it("come newest first, in pages that join without gap or overlap", async () => {
    const world = await given();
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) ids.unshift((await submitted(world)).id);

    const seen: string[] = [];
    let after = "";
    for (let more = true; more; ) {
      const page = await listOf<JobList>(world, `/v1/jobs?limit=2${after}`);
      seen.push(...page.data.map(({ id }) => id));
      expect([page.object, page.first_id, page.last_id]).toEqual(["list", page.data[0]?.id, page.data.at(-1)?.id]);
      after = `&after=${page.last_id}`;
      more = page.has_more;
    }

    expect(seen).toEqual(ids);
    const oldestFirst = await listOf<JobList>(world, "/jobs?order=asc");
    expect(oldestFirst.data.map(({ id }) => id)).toEqual(ids.toReversed());
  });

  it("are filtered by status and model, by alias too", async () => {
    const world = await given();
    const done = await completed(world);
    const { id: live } = await submitted(world);
    const { id: other } = await submitted(world, {}, { ...ASK, model: "beta" });
    const idsOf = async (query: string): Promise<string[]> =>
      (await listOf<JobList>(world, `/v1/jobs?${query}`)).data.map(({ id }) => id);

    expect(await idsOf("status=completed")).toEqual([done]);
    expect(await idsOf("status=queued,in_progress")).toEqual([other, live]);
    expect(await idsOf("status=queued&status=completed")).toEqual([other, done]);
    expect(await idsOf("model=chat")).toEqual([live, done]);
    expect(await idsOf("model=beta&status=completed")).toEqual([]);
    expect(await idsOf("metadata[a]=b")).toEqual([]);
  });

  it("leave answers out unless they are asked for", async () => {
    const world = await given();
    await completed(world);

    const bare = await listOf<JobList>(world, "/v1/jobs");
    const full = await settled(world, get(world, "/v1/jobs?include=response"));

    expect(bare.data[0]?.response).toBeNull();
    expect(await full.text()).toContain(`"body":${ANSWER}`);
  });

  it("renew no lease", async () => {
    const world = await given();
    const { id } = await submitted(world);
    for (let i = 0; i < 7; i++) {
      await world.clock.runUntil(world.clock.nowMs() + 10_000);
      await listOf<JobList>(world, "/v1/jobs");
    }

    expect((await listOf<JobList>(world, "/v1/jobs")).data[0]).toMatchObject({ id, status: "cancelled" });
  });

  it("are an empty page where there are none", async () => {
    const empty = { object: "list", data: [], first_id: null, last_id: null, has_more: false };

    expect(await listOf<JobList>(await given(), "/v1/jobs")).toEqual(empty);
  });
});

it.each([
  ["/v1/jobs?limit=0", "limit"],
  ["/v1/jobs?limit=101", "limit"],
  ["/v1/jobs?limit=x", "limit"],
  ["/v1/jobs?order=up", "order"],
  ["/v1/jobs?status=running", "status"],
  ["/v1/jobs?after=job_1", "after"],
  ["/v1/jobs?include=all", "include"],
  ["/v1/jobs?state=queued", "state"],
  ["/v1/decisions?after=job_1", "after"],
  ["/v1/decisions?job=dec_1", "job"],
  ["/v1/decisions?status=x", "status"],
])("%s is refused for its %s", async (path, param) => {
  const world = await given();

  const response = await settled(world, get(world, path));

  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { code: "invalid_query", param } });
});

describe("models", () => {
  it("are listed as OpenAI lists them, with what is ours beside it", async () => {
    const world = await given();
    await completed(world);

    const list = await listOf<ModelList>(world, "/v1/models");

    expect(list.data.map(({ id }) => id)).toEqual([MODEL, "beta"]);
    expect(list.data[0]).toMatchObject({
      ...{ object: "model", owned_by: "sir", created: 1_790_000_000 },
      sir: { aliases: ["chat"], resident: true, state: "resident", queued: 0, running: 0, device: "gpu0" },
    });
  });

  it.each(["org%2Falpha:q4", "org%2Falpha%3Aq4", "org/alpha:q4", "chat"])("are read as %s", async (name) => {
    const world = await given();

    expect(await (await settled(world, get(world, `/v1/models/${name}`))).json()).toMatchObject({ id: MODEL });
  });

  it("are 404 with a suggestion when there is none of that name", async () => {
    const world = await given();

    const response = await settled(world, get(world, "/v1/models/org%2Falpha"));

    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({
      error: { code: "model_not_found", message: expect.stringContaining(`Did you mean "${MODEL}"`) },
    });
  });
});

describe("decisions by kind, reason, device and time", () => {
  it("are found, and what is misspelt is refused", async () => {
    const world = await given();
    await completed(world, ANSWER);
    await passes(world, 10_000);
    const { data: all } = await listOf<DecisionList>(world, "/v1/decisions");
    const of = async (query: string): Promise<string[]> =>
      (await listOf<DecisionList>(world, `/v1/decisions?${query}`)).data.map(({ id }) => id);
    const [load] = all.filter(({ kind }) => kind === "load");
    const idle = all.filter(({ kind }) => kind === "idle" || kind === "hold").map(({ id }) => id);

    expect(await of("kind=load")).toEqual([load?.id]);
    expect(await of("kind=idle,hold")).toEqual(idle);
    expect(await of(`reason=${load?.reason}`)).toEqual([load?.id]);
    expect(await of("reason=ceiling")).toEqual([]);
    expect(await of("device=gpu0")).toEqual(all.map(({ id }) => id));
    expect(await of(`before=${(load?.at ?? 0) + 1}`)).toContain(load?.id);
    expect(await of(`before=${(load?.at ?? 0) - 1}`)).not.toContain(load?.id);
    for (const query of ["kind=jump", "device=gpu9", "before=noon"]) {
      expect((await settled(world, get(world, `/v1/decisions?${query}`))).status, query).toBe(400);
    }
  });

  it("go on by their key, also across kinds", async () => {
    const world = await given();
    for (const model of ["beta", MODEL, "beta", MODEL]) {
      await submitted(world, {}, { ...ASK, model });
      (await nextCall(world)).answer(ANSWER);
      await passes(world, 8_000);
    }
    const whole = await listOf<DecisionList>(world, "/v1/decisions?kind=swap,load,idle,hold&limit=100");

    const seen: string[] = [];
    for (let after: string | null = null, more = true; more; ) {
      const query = `/v1/decisions?kind=swap,load,idle,hold&limit=2${after === null ? "" : `&after=${after}`}`;
      const page: DecisionList = await listOf<DecisionList>(world, query);
      seen.push(...page.data.map(({ id }) => id));
      after = page.last_id;
      more = page.has_more;
    }

    expect(whole.data.length).toBeGreaterThan(4);
    expect(seen).toEqual(whole.data.map(({ id }) => id));
  });
});

describe("decisions", () => {
  it("tell why, in seconds, and are read one by one", async () => {
    const world = await given();
    const { id } = await submitted(world);
    (await nextCall(world)).answer(ANSWER);
    await settled(world, get(world, `/v1/jobs/${id}?wait=5`));
    await world.clock.runUntil(world.clock.nowMs() + 5_000);

    const list = await listOf<DecisionList>(world, "/v1/decisions");
    const load = list.data.find(({ kind }) => kind === "load");

    expect(load).toMatchObject({ object: "decision", load: MODEL, device: "gpu0", policy: "fifo", evict: [] });
    expect(load?.sentence).toContain(MODEL);
    expect(load?.models[0]).toMatchObject({ model: MODEL, depth: 1, eligible: true });
    expect(load?.at).toBeGreaterThan(1_790_000_000 - 1);
    expect(await listOf(world, `/decisions/${load?.id}`)).toEqual(load);
    expect(
      (await listOf<DecisionList>(world, `/decisions?job=${id}&model=chat`)).data.map(({ id: each }) => each),
    ).toContain(load?.id);
  });

  it("are 404 when unknown", async () => {
    const world = await given();

    const response = await settled(world, get(world, `/v1/decisions/dec_${"0".repeat(32)}`));

    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: { code: "decision_not_found" } });
  });
});

describe("status and health", () => {
  it("show models, device and store", async () => {
    const world = await given();
    void post(world).catch(() => undefined);
    await nextCall(world);

    const status = await listOf<StatusWire>(world, "/v1/status");

    expect(status).toMatchObject({ object: "status", policy: "fifo", queued: 0, running: 1, draining: false });
    expect(status.models[0]).toMatchObject({ id: MODEL, state: "resident", running: 1 });
    expect(status.devices[0]).toMatchObject({ id: "gpu0", phase: "serving", models: [MODEL] });
  });

  it("say ready, and not ready with the reasons", async () => {
    const world = await given();
    const away = { ...world.store, ping: () => Promise.reject(new Error("disk full")) };
    const broken = await given({ deps: { store: away as never } });

    expect(await listOf(world, "/readyz")).toEqual({ status: "ready", problems: [] });
    expect(await listOf(world, "/healthz")).toEqual({ status: "ok" });
    const response = await settled(broken, get(broken, "/readyz"));
    expect(response.status).toBe(503);
    expect(await response.json()).toEqual({ status: "not_ready", problems: ["the store cannot commit: disk full"] });
    expect((await settled(broken, get(broken, "/healthz"))).status).toBe(200);
  });

  it("give metrics as they come", async () => {
    const metrics = { contentType: "text/plain; version=0.0.4", text: () => Promise.resolve("sir_up 1\n") };
    const world = await given({ deps: { metrics } });

    const response = await settled(world, get(world, "/metrics"));

    expect([response.headers.get("content-type"), await response.text()]).toEqual([metrics.contentType, "sir_up 1\n"]);
  });
});
