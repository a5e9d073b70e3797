// What people call the causes of a wait, where the wire brings a cause without its title. The words are the server's
// (src/explain/causes.ts); a test holds the two together.

import type { CauseWire } from "../../../src/client/wire-explain.ts";

export const CAUSE_TITLES: Readonly<Record<CauseWire, string>> = {
  router_down: "SIR was not running",
  running: "Running",
  lost_attempt: "A run that was lost",
  paused: "Paused by an operator",
  retry_backoff: "Waiting for its next try",
  model_broken: "Model failed to load",
  loading: "Loading its model",
  unloading: "Unloading another model",
  draining: "Another model's jobs were finishing",
  own_queue: "Behind jobs of its own model",
  share_limit: "Its caller was at a limit",
  held: "GPU held by another model",
  dispatch: "Being started",
};

export const titleOfCause = (cause: string): string =>
  (CAUSE_TITLES as Readonly<Record<string, string>>)[cause] ?? cause.replaceAll("_", " ");
