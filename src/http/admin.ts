// Verbs of operators over HTTP: models, the router, an engine's log.

import { z } from "@hono/zod-openapi";
import type { LogsWire } from "../client/wire-status.ts";
import { SirError } from "../domain/errors.ts";
import type { DeviceId, ModelName } from "../domain/ids.ts";
import type { Operator } from "../engine/control.ts";
import { callerOf, requireOperator } from "./caller.ts";
import type { Call, HttpWorld } from "./deps.ts";
import { invalidQuery } from "./error-body.ts";
import { readJson } from "./json-body.ts";
import { modelStatusWire } from "./model-status.ts";
import { findModel } from "./models.ts";
import { onlyKnown, readChoice } from "./query.ts";
import { readStatus } from "./status.ts";

export const PauseRequestSchema = z
  .strictObject({
    note: z
      .string()
      .trim()
      .max(300)
      .regex(/^\P{Cc}*$/u, "must not hold control characters")
      .transform((text) => (text === "" ? null : text))
      .nullish()
      .describe("Why, for whoever looks next; at most 300 characters"),
  })
  .openapi("PauseRequest");

const DEFAULT_LINES = 200;
const MOST_LINES = 10_000;

export type ModelVerb = "load" | "unload" | "pin" | "unpin" | "drain";

/** Recorded when it answers; the model's status shows the effect as it comes. */
export async function changeModel(c: Call, world: HttpWorld, verb: ModelVerb): Promise<Response> {
  requireOperator(c);
  const { name } = findModel(world, c.req.param("id") ?? "").spec;
  const force = verb === "unload" && readChoice(c, "force", ["true", "false"], "false") === "true";
  const note = verb === "drain" ? (await readWords(c, world)).note : null;
  await carryOut(world.engine.operator, verb, name, { force, who: callerOf(c), note });
  return c.json(modelStatusWire(world, findModel(world, name)), 200, { "cache-control": "no-store" });
}

interface Asked {
  readonly force: boolean;
  readonly who: string;
  readonly note: string | null;
}

function carryOut(operator: Operator, verb: ModelVerb, model: ModelName, { force, who, note }: Asked): Promise<void> {
  switch (verb) {
    case "load":
      return operator.load(model, who);
    case "pin":
      return operator.pin(model, who);
    case "unpin":
      return operator.unpin(model, who);
    case "drain":
      return operator.drainModel(model, { who, note });
    case "unload":
      return operator.unload(model, force, who);
  }
}

export async function changeRouter(c: Call, world: HttpWorld, verb: "pause" | "resume" | "drain"): Promise<Response> {
  requireOperator(c);
  const { operator } = world.engine;
  if (verb === "drain") await operator.drain();
  else if (verb === "resume") await operator.resume(readDevice(c, world));
  else await operator.pause(readDevice(c, world), await readWords(c, world));
  return readStatus(c, world);
}

/** Null: the whole router is meant. */
function readDevice(c: Call, world: HttpWorld): DeviceId | null {
  onlyKnown(c, ["device"]);
  const asked = c.req.query("device");
  if (asked === undefined) return null;
  const known = world.engine.status().devices.map(({ device }) => device);
  const found = known.find((each) => each === asked);
  if (found === undefined) throw invalidQuery("device", `"device" must be one of ${known.join(", ")}.`);
  return found;
}

async function readWords(c: Call, world: HttpWorld): Promise<{ who: string; note: string | null }> {
  const parsed = PauseRequestSchema.safeParse(await readJson(c, world, {}));
  if (parsed.success) return { who: callerOf(c), note: parsed.data.note ?? null };
  const [issue] = parsed.error.issues;
  throw new SirError("invalid_body", `${issue?.path.join(".") || "The body"}: ${issue?.message}`, { param: "note" });
}

/** The engine's own newest log lines. */
export async function readLogs(c: Call, world: HttpWorld): Promise<Response> {
  requireOperator(c);
  const { name } = findModel(world, c.req.param("id") ?? "").spec;
  const text = c.req.query("lines") ?? String(DEFAULT_LINES);
  const lines = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (lines < 1 || lines > MOST_LINES) throw invalidQuery("lines", `"lines" must be from 1 to ${MOST_LINES}.`);
  const body: LogsWire = { object: "logs", model: name, lines: await world.engine.operator.logs(name, lines) };
  return c.json(body, 200, { "cache-control": "no-store" });
}
