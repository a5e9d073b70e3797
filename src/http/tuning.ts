// Tuned settings for operators: try some (a day in shadow, then watched), see them, take them back.

import { z } from "@hono/zod-openapi";
import { SirError } from "../domain/errors.ts";
import type { Tuning } from "../domain/tuning.ts";
import { requireOperator } from "./caller.ts";
import type { Call, HttpWorld } from "./deps.ts";
import { readJson } from "./json-body.ts";
import { onlyKnown } from "./query.ts";
import { json, type Route } from "./route.ts";

const settings = z.record(z.string(), z.unknown());
const seconds = z.number().positive().max(31_536_000);
const DAY_SECONDS = 86_400;
const LISTED = 20;

const TuningRequestSchema = z
  .strictObject({
    policy: z.string().describe("The one that decides now"),
    set: settings.describe("What is to be tried, as in the configuration"),
    base: settings.describe("The settings that the proposal was made from; the router's must be the same"),
    shadow_seconds: seconds.default(DAY_SECONDS).describe("So long it is asked and not obeyed"),
    watch_seconds: seconds.default(7 * DAY_SECONDS).describe("So long it is obeyed and watched, then kept"),
  })
  .openapi("TuningRequest");

const TuningSchema = z
  .object({
    object: z.literal("tuning"),
    state: z.enum(["shadow", "live", "kept", "returned", "dropped"]),
    at: z.number().describe("Unix seconds"),
    until: z.number().nullable().describe("When this state gives way to the next"),
    policy: z.string(),
    set: settings,
    base: settings,
    watch_seconds: z.number(),
    reason: z.string(),
  })
  .openapi("Tuning");
const TuningListSchema = z.object({ object: z.literal("list"), data: z.array(TuningSchema) }).openapi("TuningList");

export function tuningRoutes(world: HttpWorld): Route[] {
  const [tag, path] = ["admin", "/admin/tuning"] as const;
  return [
    {
      method: "get",
      path,
      tag,
      summary: "What became of tuned settings, the newest first; the first is what holds",
      answers: { 200: json(TuningListSchema, "The newest twenty states") },
      handle: (c) => listTunings(c, world),
    },
    {
      method: "post",
      path,
      tag,
      summary: "Try settings: in shadow first, then obeyed and watched; they are taken back when they do harm",
      body: { required: true, content: { "application/json": { schema: TuningRequestSchema } } },
      answers: { 201: json(TuningSchema, "In shadow from now on; kept through restarts") },
      handle: (c) => propose(c, world),
    },
    {
      method: "delete",
      path,
      tag,
      summary: "Take tuned settings back: the configuration's own hold again",
      answers: { 200: json(TuningSchema, "Taken back") },
      handle: (c) => giveBack(c, world),
    },
  ];
}

async function listTunings(c: Call, world: HttpWorld): Promise<Response> {
  requireOperator(c);
  onlyKnown(c, []);
  const data = (await world.store.history.tunings(LISTED)).map(tuningWire);
  return c.json({ object: "list", data }, 200, { "cache-control": "no-store" });
}

async function propose(c: Call, world: HttpWorld): Promise<Response> {
  requireOperator(c);
  const parsed = TuningRequestSchema.safeParse(await readJson(c, world));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw refusal(`${issue?.path.join(".")}: ${issue?.message}`, String(issue?.path[0] ?? "body"));
  }
  const { policy, set, base, shadow_seconds, watch_seconds } = parsed.data;
  const wish = { policy, set, base, shadowMs: shadow_seconds * 1_000, watchMs: watch_seconds * 1_000 };
  const tuning = (await world.tuner?.propose(wish)) ?? "This router takes no tuned settings.";
  if (typeof tuning === "string") throw refusal(tuning, "set");
  return c.json(tuningWire(tuning), 201, { "cache-control": "no-store" });
}

async function giveBack(c: Call, world: HttpWorld): Promise<Response> {
  requireOperator(c);
  const tuning = (await world.tuner?.giveBack("taken back by an operator")) ?? null;
  if (tuning === null) throw refusal("No tuned settings are on trial or kept.", "set");
  return c.json(tuningWire(tuning), 200, { "cache-control": "no-store" });
}

const refusal = (message: string, param: string): SirError => new SirError("invalid_body", message, { param });

function tuningWire({
  state,
  atMs,
  untilMs,
  policy,
  set,
  base,
  watchMs,
  reason,
}: Tuning): z.output<typeof TuningSchema> {
  const until = untilMs === null ? null : untilMs / 1_000;
  return {
    object: "tuning",
    state,
    at: atMs / 1_000,
    until,
    policy,
    set,
    base,
    watch_seconds: watchMs / 1_000,
    reason,
  };
}
