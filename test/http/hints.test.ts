// Hints over HTTP: what they may say, what is wrong with them field by field, and what becomes of them.

import { expect, it } from "vitest";
import type { DecisionList, HintList, HintWire } from "../../src/client/wire.ts";
import type { StatusWire } from "../../src/client/wire-status.ts";
import { readHint } from "../../src/http/hint-request.ts";
import { HintSchema } from "../../src/http/hint-routes.ts";
import { DecisionSchema } from "../../src/http/schemas.ts";
import { StatusSchema } from "../../src/http/schemas-status.ts";
import { modelSpec } from "../intake/given.ts";
import { type Given, get, given, MODEL, passes, post, settled } from "./given.ts";

const WALL_MS = 1_790_000_000_000;
const NOW = WALL_MS / 1_000;

const say = (world: Given, body: unknown) => settled(world, post(world, body, { path: "/v1/hints" }));
const read = async <T>(world: Given, path: string) => (await (await settled(world, get(world, path))).json()) as T;

it("is answered 201 with the hint as it is understood, listed, and taken back once", async () => {
  const world = await given();

  const response = await say(world, { model: "chat", in: "90s", jobs: 3, priority: "interactive" });

  const hint = (await response.json()) as HintWire;
  expect(response.status).toBe(201);
  expect(HintSchema.strict().parse(hint)).toMatchObject({
    ...{ object: "hint", model: MODEL, state: "waiting", at: NOW + 90, until: null, expires_at: NOW + 90 + 2 + 120 },
    ...{ repeat: null, jobs: 3, priority: 100, last: null, acts: false },
  });
  expect((await read<HintList>(world, "/v1/hints")).data).toEqual([hint]);
  const remove = () => settled(world, Promise.resolve(world.app.request(`/v1/hints/${hint.id}`, { method: "DELETE" })));
  expect(await (await remove()).json()).toEqual({ id: hint.id, object: "hint", deleted: true });
  expect((await remove()).status).toBe(404);
  expect((await read<HintList>(world, "/v1/hints")).data).toEqual([]);
});

it.each([
  [[], "", /JSON object/],
  [{ at: "02:00" }, "model", /"model"/],
  [{ model: "chat" }, "at", /either "at" or "in"/],
  [{ model: "chat", at: NOW + 9, in: 9 }, "at", /either "at" or "in"/],
  [{ model: "chat", at: "soon" }, "at", /"soon"/],
  [{ model: "chat", at: "24:00" }, "at", /"24:00"/],
  [{ model: "chat", at: WALL_MS }, "at", /milliseconds/],
  [{ model: "chat", at: NOW - 1 }, "at", /passed already/],
  [{ model: "chat", in: "400d" }, "in", /"400d"/],
  [{ model: "chat", in: "9000h" }, "in", /a year/],
  [{ model: "chat", in: 9, until: NOW + 9 }, "until", /after "at"/],
  [{ model: "chat", in: 9, until: NOW + 90_000 }, "until", /a day/],
  [{ model: "chat", in: 9, repeat: "weekly" }, "repeat", /"repeat"/],
  [{ model: "chat", in: 9, jobs: 0 }, "jobs", /"jobs"/],
  [{ model: "chat", in: 9, priority: "urgent" }, "priority", /interactive, normal, batch/],
  [{ model: "chat", in: 9, when: 1 }, "when", /no field "when"/],
])("%j is refused, naming its field", async (body, param, words) => {
  const world = await given();

  const response = await say(world, body);

  const { error } = (await response.json()) as { error: { code: string; param: string | null; message: string } };
  expect([response.status, error.code, error.param ?? ""]).toEqual([400, "invalid_body", param]);
  expect(error.message).toMatch(words);
  expect((await read<HintList>(world, "/v1/hints")).data).toEqual([]);
});

it("a model that is not there, and one that is always on, get no hint", async () => {
  const world = await given({ specs: [modelSpec(MODEL), modelSpec("cloud", [], { usesDevice: false, devices: [] })] });

  expect((await say(world, { model: "nobody", in: 9 })).status).toBe(404);
  expect(await (await say(world, { model: "cloud", in: 9 })).json()).toMatchObject({ error: { param: "model" } });
  expect((await say(world, "{")).status).toBe(400);
  expect((await say(world, JSON.stringify({ model: "x".repeat(70_000) }))).status).toBe(413);
});

it("a time of day is the next one by the router's clock, and `until` the next after that", () => {
  const noon = new Date(2026, 10, 30, 12, 0, 0).getTime();
  const at = (text: string, until?: string) =>
    readHint({ model: "chat", at: text, ...(until === undefined ? {} : { until }) }, noon);

  expect(at("12:01").atMs - noon).toBe(60_000);
  expect(at("12:00").atMs).toBe(new Date(2026, 11, 1, 12, 0, 0).getTime());
  expect(at("2:00", "03:30:30")).toMatchObject({
    atMs: new Date(2026, 11, 1, 2, 0, 0).getTime(),
    untilMs: new Date(2026, 11, 1, 3, 30, 30).getTime(),
  });
  expect(at(new Date(noon + 5_000).toISOString()).atMs).toBe(noon + 5_000);
});

it("there are at most a hundred of one caller", async () => {
  const world = await given();
  for (let i = 0; i < 100; i++) await say(world, { model: "chat", in: 60 + i });

  const response = await say(world, { model: "chat", in: 9 });

  expect([response.status, response.headers.has("retry-after")]).toEqual([429, true]);
  expect(await response.json()).toMatchObject({ error: { code: "too_many_hints" } });
});

it("the decision and the status show the arithmetic, as the document says they do", async () => {
  const preloading = { mode: "auto", share: 0.05, mostMs: 1_200_000, price: 0.25 } as const;
  const world = await given({ preloading: { ...preloading, weights: { interactive: 10, normal: 1, batch: 0.1 } } });
  await say(world, { model: "beta", in: 600, jobs: 4 });

  await passes(world, 600_000);

  const { data } = await read<DecisionList>(world, "/v1/decisions");
  const made = data.find(({ reason }) => reason === "preload");
  expect(DecisionSchema.parse(made).preload).toMatchObject({ source: "hint", probability: 0.9, burst: 4, price: 0.5 });
  expect(made?.preload?.due_at).toBeCloseTo(NOW + 600, 3);
  const status = await read<StatusWire>(world, "/v1/status");
  expect(StatusSchema.parse(status)).toMatchObject({
    preloading: { mode: "auto", hint: { hits: 0, misses: 0, paused_until: null } },
    devices: [{ preload_left_seconds: expect.closeTo(600 + 0.05 * 600 - 2, 0) }],
  });
  expect(status.models.find(({ id }) => id === "beta")?.forecast).toMatchObject({
    burst: 4,
    expected: [{ source: "hint", due_at: NOW + 600, probability: 0.9 }],
  });
});
