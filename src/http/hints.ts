// Hints over HTTP: callers say beforehand what they will need, so that it is loaded when they come.

import type { HintList, HintWire } from "../client/wire.ts";
import { SirError } from "../domain/errors.ts";
import { parseHintId } from "../domain/ids.ts";
import type { HintView } from "../engine/control.ts";
import { callerOf } from "./caller.ts";
import type { Call, HttpWorld } from "./deps.ts";
import { drainingError } from "./error-body.ts";
import { readHint } from "./hint-request.ts";
import { readJson } from "./json-body.ts";
import { findModel } from "./models.ts";
import { onlyKnown } from "./query.ts";
import { seconds } from "./receipt.ts";

const NO_STORE = { "cache-control": "no-store" };

/** `POST /v1/hints`: answered once it is stored. */
export async function createHint(c: Call, world: HttpWorld): Promise<Response> {
  if (world.closing?.draining.aborted === true) throw drainingError();
  const { model, ...asked } = readHint(await readJson(c, world), world.clock.wallMs());
  const { spec } = findModel(world, model);
  if (!spec.usesDevice) {
    throw new SirError("invalid_body", `Model "${spec.name}" is always on; nothing needs to be loaded for it.`, {
      param: "model",
    });
  }
  const view = await world.engine.hints.add({ ...asked, model: spec.name, caller: callerOf(c) });
  return c.json(hintWire(view), 201, NO_STORE);
}

/** `GET /v1/hints`: the caller's own, in the order in which they were made; also those that are over, for a day. */
export function listHints(c: Call, world: HttpWorld): Response {
  onlyKnown(c, []);
  const data = world.engine.hints.list(callerOf(c)).map(hintWire);
  const list: HintList = {
    object: "list",
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: false,
  };
  return c.json(list, 200, NO_STORE);
}

/** `DELETE /v1/hints/{id}` */
export async function removeHint(c: Call, world: HttpWorld): Promise<Response> {
  const id = parseHintId(c.req.param("id") ?? "");
  if (id === null || !(await world.engine.hints.remove(callerOf(c), id))) {
    throw new SirError("hint_not_found", "There is no such hint; one that is over is kept for a day.");
  }
  return c.json({ id, object: "hint", deleted: true }, 200, NO_STORE);
}

function hintWire({ hint, state, expiresAtMs, acts }: HintView): HintWire {
  return {
    id: hint.id,
    object: "hint",
    model: hint.model,
    state,
    at: seconds(hint.atMs),
    until: hint.untilMs === null ? null : seconds(hint.untilMs),
    expires_at: seconds(expiresAtMs),
    repeat: hint.repeat,
    jobs: hint.jobs,
    priority: hint.priority,
    last: hint.last,
    acts,
    created_at: Math.floor(hint.createdAtMs / 1_000),
  };
}
