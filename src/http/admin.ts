// Verbs of operators. Until there are keys, only this machine may use them: the peer's own address decides, never a
// header, and a browser (an Origin, or a Host that is some other name) is refused, so that no web page can reach them.

import type { LogsWire } from "../client/wire-status.ts";
import { SirError } from "../domain/errors.ts";
import type { ModelName } from "../domain/ids.ts";
import type { Operator } from "../engine/control.ts";
import { type Call, type HttpWorld, socketOf } from "./deps.ts";
import { invalidQuery } from "./error-body.ts";
import { findModel } from "./models.ts";
import { readChoice } from "./query.ts";
import { modelStatusWire, readStatus } from "./status.ts";

const DEFAULT_LINES = 200;
const MOST_LINES = 10_000;

/** @throws {SirError} admin_not_allowed */
export function requireOperator(c: Call): void {
  const address = socketOf(c).incoming?.socket.remoteAddress;
  if (address === undefined || !isLoopbackAddress(address)) {
    throw denied("Operators' routes answer only callers on the router's own machine. Use the command line there.");
  }
  if (c.req.raw.headers.has("origin")) throw denied("Operators' routes do not answer web pages.");
  if (!isLoopbackHost(c.req.raw.headers.get("host") ?? "")) {
    throw denied("Operators' routes must be called by a loopback name, such as localhost or 127.0.0.1.");
  }
}

function denied(message: string): SirError {
  return new SirError("admin_not_allowed", message);
}

function isLoopbackAddress(address: string): boolean {
  const v4 = address.toLowerCase().startsWith("::ffff:") ? address.slice(7) : address;
  return v4 === "::1" || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(v4);
}

function isLoopbackHost(host: string): boolean {
  const name = host.toLowerCase().replace(/:\d*$/, "");
  return name === "localhost" || name === "[::1]" || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(name);
}

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
