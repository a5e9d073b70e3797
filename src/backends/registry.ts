// The drivers there are: one line each. The configuration's types, its validation and `sir doctor` follow from this.

import type { z } from "zod";
import type { ModelName } from "../domain/ids.ts";
import type { Backend, Driver, DriverContext, Member } from "./backend.ts";
import { llamaServer } from "./llama-server.ts";
import { llamaSwap } from "./llama-swap.ts";
import { lmstudio } from "./lmstudio.ts";
import { mockDriver } from "./mock.ts";
import { ollama } from "./ollama.ts";
import { processDriver } from "./process.ts";
import { remote } from "./remote.ts";
import { triton } from "./triton.ts";
import { vllmDocker } from "./vllm-docker.ts";
import { vllmSleep } from "./vllm-sleep.ts";

const BY_NAME = {
  "llama-server": llamaServer,
  "llama-swap": llamaSwap,
  lmstudio,
  mock: mockDriver(),
  ollama,
  process: processDriver,
  remote,
  triton,
  "vllm-docker": vllmDocker,
  "vllm-sleep": vllmSleep,
} as const satisfies Record<string, Driver>;

export const drivers: readonly Driver[] = Object.values(BY_NAME);

/** A model's `backend` as it is written in `sir.config.ts`. */
export type BackendConfig = {
  [Name in keyof typeof BY_NAME]: { driver: Name } & z.input<(typeof BY_NAME)[Name]["options"]>;
}[keyof typeof BY_NAME];

/** Models whose share keys are equal: one call of `create`. */
export interface DriverGroup {
  readonly driver: Driver;
  readonly members: readonly Member<unknown>[];
}

/**
 * One backend for each group, found by each of its models.
 *
 * @param instead Drivers that stand in for those of the same name, as a simulation's `mockDriver(lab)` does.
 */
export function createBackends(
  groups: readonly DriverGroup[],
  context: DriverContext,
  instead: readonly Driver[] = [],
): ReadonlyMap<ModelName, Backend> {
  const backends = new Map<ModelName, Backend>();
  for (const { driver, members } of groups) {
    const used = instead.find((each) => each.name === driver.name) ?? driver;
    const backend = used.create(members, context);
    for (const member of members) backends.set(member.spec.name, backend);
  }
  return backends;
}
