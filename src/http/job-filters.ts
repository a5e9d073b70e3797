// What lists of jobs are asked for in the caller's words: a model by any of its names, statuses as the wire spells them.

import type { ModelName } from "../domain/ids.ts";
import type { JobStatus } from "../domain/job.ts";
import type { Call, HttpWorld } from "./deps.ts";
import { invalidQuery } from "./error-body.ts";
import { fromWire, WIRE_STATUSES } from "./status-words.ts";

/** An alias is a name of its model. */
export function canonical(world: HttpWorld, name: string): ModelName {
  const found = world.engine.status().models.find(({ spec }) => spec.name === name || spec.aliases.includes(name));
  return found?.spec.name ?? (name as ModelName);
}

export function readStatuses(c: Call): readonly JobStatus[] | null {
  const texts = c.req.queries("status");
  if (texts === undefined) return null;
  return texts
    .flatMap((text) => text.split(","))
    .map((word) => {
      const status = fromWire(word.trim());
      if (status === null) throw invalidQuery("status", `"status" must be one of ${WIRE_STATUSES.join(", ")}.`);
      return status;
    });
}
