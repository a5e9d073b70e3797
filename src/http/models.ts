// The models that callers may name, in OpenAI's shape, in the configuration's order.

import type { ModelList, ModelWire } from "../client/wire.ts";
import type { ModelStatus } from "../engine/control.ts";
import { createModelDirectory } from "../intake/models.ts";
import type { Call, HttpWorld } from "./deps.ts";
import { aheadMs } from "./instants.ts";
import { seconds } from "./receipt.ts";

/** @param createdAt Unix seconds; OpenAI's shape wants one, and the configuration has none. */
export function listModels(c: Call, world: HttpWorld, createdAt: number): Response {
  const data = world.engine.status().models.map((model) => modelWire(world, model, createdAt));
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
export function readModel(c: Call, world: HttpWorld, createdAt: number): Response {
  return c.json(modelWire(world, findModel(world, c.req.param("id") ?? ""), createdAt));
}

/** @throws {SirError} model_not_found, with the nearest name */
export function findModel(world: HttpWorld, name: string): ModelStatus {
  const { models } = world.engine.status();
  const { name: found } = createModelDirectory(models.map(({ spec }) => spec)).resolve(name);
  return models.find(({ spec }) => spec.name === found) as ModelStatus;
}

function modelWire(world: HttpWorld, model: ModelStatus, createdAt: number): ModelWire {
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
      devices: model.devices,
      memory_gib: model.memoryGiB,
      measured_gib: tenths(model.measuredGiB),
      load_seconds: seconds(model.loadMs),
      queued: queued.interactive + queued.normal + queued.batch,
      running: model.running,
      pinned: model.pinned,
      retry_at: wallSeconds(world, model.retryAtMs),
    },
  };
}

/** Of a GiB. */
export function tenths(gib: number | null): number | null {
  return gib === null ? null : Math.round(gib * 10) / 10;
}

/** An instant of router time in Unix seconds, to the millisecond: the same number whenever it is asked for. */
export function wallSeconds(world: HttpWorld, atMs: number | null): number | null {
  return atMs === null ? null : seconds(atMs + aheadMs(world));
}
