// The backends of a running router, kept over changes of the configuration: what did not change goes on as it is.

import type { ModelName } from "../domain/ids.ts";
import type { Backend, DriverContext } from "./backend.ts";
import { createBackends, type DriverGroup } from "./registry.ts";

export interface Fleet {
  current(): ReadonlyMap<ModelName, Backend>;
  /** The name of the driver behind a model; null: there is no such model. */
  driverOf(model: ModelName): string | null;
  /** The backends after the change; those of groups that are the same to the letter are the same objects. */
  change(groups: readonly DriverGroup[]): ReadonlyMap<ModelName, Backend>;
  /** Closes those that a change has left over too: engines may still live in them. */
  close(): Promise<void>;
}

export function createFleet(groups: readonly DriverGroup[], context: DriverContext): Fleet {
  let backends = createBackends(groups, context);
  const made = new Set(backends.values());
  let letters = new Map(groups.map((group) => [lettersOf(group), group]));
  return {
    current: () => backends,
    driverOf: (model) => {
      const group = [...letters.values()].find(({ members }) => members.some(({ spec }) => spec.name === model));
      return group?.driver.name ?? null;
    },
    change(next) {
      const kept = next.filter((group) => letters.has(lettersOf(group)));
      const fresh = next.filter((group) => !letters.has(lettersOf(group)));
      const changed = new Map(createBackends(fresh, context));
      for (const backend of changed.values()) made.add(backend);
      for (const { members } of kept) {
        for (const { spec } of members) {
          const backend = backends.get(spec.name);
          if (backend !== undefined) changed.set(spec.name, backend);
        }
      }
      backends = changed;
      letters = new Map(next.map((group) => [lettersOf(group), group]));
      return backends;
    },
    async close() {
      await Promise.allSettled([...made].map((backend) => backend.close()));
    },
  };
}

/** What makes a group what it is: its driver and each member's options, not the facts that only the engine reads. */
function lettersOf({ driver, members }: DriverGroup): string {
  return JSON.stringify([driver.name, members.map(({ spec, options }) => [spec.name, options])]);
}
