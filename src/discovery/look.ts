// One look at the machine: every probe at once, each with its own short limit. Nothing is loaded, started or stopped.

import { findDevices, findTenants } from "./devices.ts";
import { findDockers } from "./docker.ts";
import { addressesOf, findEngines } from "./engine-search.ts";
import type { Machine } from "./found.ts";
import type { Surroundings } from "./surroundings.ts";

export interface LookOptions {
  /** Further hosts, or hosts with a port. */
  readonly hosts?: readonly string[];
  /** In place of the ports on which engines listen. */
  readonly ports?: readonly number[];
}

export async function lookAround(surroundings: Surroundings, options: LookOptions = {}): Promise<Machine> {
  const addresses = addressesOf(surroundings, options.hosts ?? [], options.ports);
  const [devices, tenants, answers, dockers] = await Promise.all([
    findDevices(surroundings),
    findTenants(surroundings),
    findEngines(addresses, surroundings),
    findDockers(surroundings),
  ]);
  return { devices, tenants, ...answers, ...dockers };
}
