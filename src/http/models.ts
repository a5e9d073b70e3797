// The models that callers may name, in OpenAI's shape, in the configuration's order.

import type { ModelList, ModelWire } from "../client/wire.ts";
import { SirError } from "../domain/errors.ts";
import type { ModelStatus } from "../engine/control.ts";
import type { Call, HttpDeps } from "./deps.ts";
import { seconds } from "./receipt.ts";

/** @param createdAt Unix seconds; OpenAI's shape wants one, and the configuration has none. */
export function listModels(c: Call, deps: HttpDeps, createdAt: number): Response {
  const data = deps.engine.status().models.map((model) => modelWire(deps, model, createdAt));
  const list: ModelList = {
    object: "list",
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: false,
  };
  return c.json(list);
}

/** By name or alias; the answer has the model's own name. */
export function readModel(c: Call, deps: HttpDeps, createdAt: number): Response {
  return c.json(modelWire(deps, findModel(deps, c.req.param("id") ?? ""), createdAt));
}

/** @throws {SirError} model_not_found */
export function findModel(deps: HttpDeps, name: string): ModelStatus {
  const { models } = deps.engine.status();
  const found = models.find(({ spec }) => spec.name === name || spec.aliases.includes(name));
  if (found !== undefined) return found;
  const names = models.slice(0, 20).map(({ spec }) => spec.name);
  throw new SirError("model_not_found", `No such model. There are: ${names.join(", ")}.`, { param: "model" });
}

function modelWire(deps: HttpDeps, model: ModelStatus, createdAt: number): ModelWire {
  const { spec, queued } = model;
  return {
    id: spec.name,
    object: "model",
    created: createdAt,
    owned_by: "sir",
    sir: {
      label: spec.label,
      aliases: spec.aliases,
      state: model.state,
      resident: model.state === "resident" || model.state === "remote",
      device: model.device,
      load_seconds: seconds(model.loadMs),
      queued: queued.interactive + queued.normal + queued.batch,
      running: model.running,
      pinned: model.pinned,
      retry_at: wallSeconds(deps, model.retryAtMs),
    },
  };
}

/** An instant of router time on the wall clock of now, in Unix seconds to the millisecond. */
export function wallSeconds(deps: HttpDeps, atMs: number | null): number | null {
  return atMs === null ? null : seconds(atMs - deps.clock.nowMs() + deps.clock.wallMs());
}
