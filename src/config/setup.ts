// What of a configuration decides which model is loaded when, as it is kept beside the traffic it decided on: models,
// devices and the scheduler's section, spelled as in the file. No address, no key, no command.

import { z } from "zod";
import type { ResolvedConfig } from "./resolved.ts";

const record = z.record(z.string(), z.unknown());

const MODEL = z.looseObject({ usesDevice: z.boolean(), driver: z.string() });

const SETUP = z.object({
  /** As written, without defaults: what another policy would have been given. */
  scheduler: record,
  /** With the defaults of the policy that ran. */
  effective: z.looseObject({ policy: z.string() }),
  jobs: record,
  devices: z.record(z.string(), record).nullable(),
  models: z.record(z.string(), MODEL),
});

export type Setup = z.output<typeof SETUP>;

export function setupOf({ document, engine }: ResolvedConfig): Setup {
  const { scheduler, devices, models } = document;
  const uses = new Map(engine.models.map(({ name, usesDevice }) => [String(name), usesDevice]));
  const { leaseSeconds, sweepSeconds, maxAttempts, maxInterruptions } = document.jobs;
  const { policy, drainMs } = engine;
  return {
    scheduler: withoutUndefined(scheduler),
    effective: { policy: policy.name, drainSeconds: drainMs / 1_000, ...policy.settings },
    jobs: { leaseSeconds, sweepSeconds, maxAttempts, maxInterruptions },
    devices:
      devices === undefined
        ? null
        : Object.fromEntries(Object.entries(devices).map(([id, each]) => [id, withoutProbe(each)])),
    models: Object.fromEntries(
      Object.entries(models).map(([name, { backend, ...model }]) => [
        name,
        { ...withoutUndefined(model), usesDevice: uses.get(name) ?? true, driver: backend.driver },
      ]),
    ),
  };
}

/** Null: what was recorded is not a setup, or was written by a version with another idea of it. */
export function readSetup(recorded: unknown): Setup | null {
  const parsed = SETUP.safeParse(recorded);
  return parsed.success ? parsed.data : null;
}

function withoutProbe({ memoryProbe: _, ...device }: { readonly memoryProbe?: unknown }): Record<string, unknown> {
  return withoutUndefined(device);
}

function withoutUndefined(values: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}
