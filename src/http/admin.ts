// Verbs of operators over HTTP: models, the router, an engine's log.

import type { LogsWire } from "../client/wire-status.ts";
import type { ModelName } from "../domain/ids.ts";
import type { Operator } from "../engine/control.ts";
import { requireOperator } from "./caller.ts";
import type { Call, HttpWorld } from "./deps.ts";
import { invalidQuery } from "./error-body.ts";
import { findModel } from "./models.ts";
import { readChoice } from "./query.ts";
import { modelStatusWire, readStatus } from "./status.ts";

const DEFAULT_LINES = 200;
const MOST_LINES = 10_000;

export type ModelVerb = "load" | "unload" | "pin" | "unpin" | "drain";

/** Recorded when it answers; the model's status shows the effect as it comes. */
export async function changeModel(c: Call, world: HttpWorld, verb: ModelVerb): Promise<Response> {
  requireOperator(c);
  const { name } = findModel(world, c.req.param("id") ?? "").spec;
  const force = verb === "unload" && readChoice(c, "force", ["true", "false"], "false") === "true";
  await carryOut(world.engine.operator, verb, name, force);
  return c.json(modelStatusWire(world, findModel(world, name)), 200, { "cache-control": "no-store" });
}

function carryOut(operator: Operator, verb: ModelVerb, model: ModelName, force: boolean): Promise<void> {
  switch (verb) {
    case "load":
      return operator.load(model);
    case "pin":
      return operator.pin(model);
    case "unpin":
      return operator.unpin(model);
    case "drain":
      return operator.drainModel(model);
    case "unload":
      return operator.unload(model, force);
  }
}

export async function changeRouter(c: Call, world: HttpWorld, verb: "pause" | "resume" | "drain"): Promise<Response> {
  requireOperator(c);
  await world.engine.operator[verb]();
  return readStatus(c, world);
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
