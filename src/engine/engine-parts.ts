// What an engine is put together from.

import type { Backend } from "../backends/backend.ts";
import type { Change } from "../domain/change.ts";
import type { Clock } from "../domain/clock.ts";
import type { Emit } from "../domain/event.ts";
import type { DeviceId, IdSource, ModelName, OwnerId } from "../domain/ids.ts";
import type { Store } from "../store/store.ts";
import type { EngineSettings } from "./settings.ts";

export interface EngineParts {
  readonly settings: EngineSettings;
  readonly store: Store;
  readonly backends: ReadonlyMap<ModelName, Backend>;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly owner: OwnerId;
  readonly emit: Emit;
  /** Hears of each job's changes of state and of what models do on devices. Absent: nobody watches. */
  readonly onChange?: (change: Change) => void;
  openBody(uri: string): AsyncIterable<Uint8Array>;
  /** Default: it cannot be asked for. */
  freeGiB?(device: DeviceId): Promise<number | null>;
  /** The loop or an invariant broke: only a restart mends it, and the store makes that cheap. */
  onFatal(error: unknown): void;
}
