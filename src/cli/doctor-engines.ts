// Whether engines that are always on answer. Engines that the router loads by itself are proven by their first load.

import type { Instance } from "../backends/backend.ts";
import type { BackendGroup, ResolvedConfig } from "../config/resolved.ts";
import type { Clock } from "../domain/clock.ts";
import type { InstanceId } from "../domain/ids.ts";
import { type Check, fault, ok } from "./check.ts";

export async function checkEngines({ backends }: ResolvedConfig, clock: Clock): Promise<Check[]> {
  const alwaysOn = backends.filter(({ driver }) => !driver.usesDevice);
  return (await Promise.all(alwaysOn.map((group) => checkGroup(group, clock)))).flat();
}

async function checkGroup({ driver, members }: BackendGroup, clock: Clock): Promise<Check[]> {
  const backend = driver.create(members, { clock });
  try {
    return await Promise.all(
      members.map(async ({ spec, options }) => {
        const placement = { instance: "ins_doctor" as InstanceId, model: spec.name, device: null };
        const instance: Instance = { ...placement, endpoint: "", epoch: 0 };
        const alive = await backend.alive(instance, new AbortController().signal);
        const where = addressOf(options);
        if (alive) return ok(spec.name, `${driver.name} at ${where} answers`);
        return fault(spec.name, `${driver.name} at ${where} does not answer.`, "Start it, or correct backend.baseUrl.");
      }),
    );
  } finally {
    await backend.close();
  }
}

function addressOf(options: unknown): string {
  const url = typeof options === "object" && options !== null && "baseUrl" in options ? options.baseUrl : null;
  return typeof url === "string" ? url : "its address";
}
