// The whole configuration as one strict schema: an unknown key is an error. What holds between keys is in checks.ts.

import { z } from "zod";
import type { BackendConfig } from "../backends/registry.ts";
import { keysSection } from "./schema-callers.ts";
import { deviceSection, modelSection } from "./schema-models.ts";
import { schedulerSection } from "./schema-scheduler.ts";
import {
  batchesSection,
  jobsSection,
  logSection,
  serverSection,
  storeSection,
  syncSection,
} from "./schema-sections.ts";
import { webhooksSection } from "./schema-webhooks.ts";
import { name } from "./units.ts";

export const configSchema = z
  .strictObject({
    server: serverSection,
    store: storeSection,
    jobs: jobsSection,
    sync: syncSection,
    batches: batchesSection,
    webhooks: webhooksSection,
    log: logSection,
    keys: keysSection,
    scheduler: schedulerSection,
    devices: z
      .record(name(), deviceSection)
      .optional()
      .describe("Devices by name; absent: one, gpu0, that holds one model at a time."),
    models: z.record(name(), modelSection).describe("Models by the name that callers send."),
  })
  .describe("Configuration of the SIR router.");

type Written = z.input<typeof configSchema>;
type WrittenModel = Omit<Written["models"][string], "backend">;

/** What a configuration file may say; each backend with the options of its own driver. */
export interface ConfigInput extends Omit<Written, "models"> {
  readonly models: Readonly<Record<string, WrittenModel & { readonly backend: BackendConfig }>>;
}
/** The same with every default filled in. */
export type ConfigDocument = z.output<typeof configSchema>;
export type ModelDocument = ConfigDocument["models"][string];
