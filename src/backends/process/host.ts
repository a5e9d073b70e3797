// Where an engine lives, for drivers that only talk to it: a process started here, or a container. What wraps an engine
// (sleep and wake) sees no more of it than this.

import type { InstanceId, ModelName } from "../../domain/ids.ts";
import type { LoadProgress, Placement } from "../backend.ts";
import type { LogRing } from "../log-ring.ts";
import type { EngineMember } from "./launch-plan.ts";

/** The load an engine serves, or served last. */
export interface Seat extends Placement {
  readonly epoch: number;
}

/** One engine from its launch to its end; with sleep and wake it serves several loads. */
export interface Hosted {
  /** Of the load that launched it. */
  readonly marker: InstanceId;
  readonly driver: string;
  readonly model: ModelName;
  readonly seat: Seat;
  readonly origin: string;
  /** False: launched with other options than today's, or for a model that is not known any more. */
  readonly fits: boolean;
  /** True: an earlier router launched it. */
  readonly found: boolean;
  /** True: it has answered a real probe since it was launched or found. */
  proven: boolean;
  /** In words, once it has ended. */
  readonly ended: string | null;
  /** Settles with those words. */
  readonly whenEnded: Promise<string>;
  readonly log: LogRing;
  /** Everything it has written so far is in the log. */
  catchUp(): Promise<void>;
  /** A line of the router's own in its log. */
  note(text: string): void;
  /** Gives it to another load, and writes that down. */
  reseat(seat: Placement): Promise<void>;
  /** Ends it with all it started; resolves when that is verified. Idempotent. @throws {LoadError} when something still runs */
  end(graceMs: number, hurry?: AbortSignal): Promise<void>;
}

export interface Host {
  /** Runs once it resolves, and serves nothing yet. Leaves nothing behind when it rejects. @throws {LoadError} */
  launch(
    member: EngineMember,
    placement: Placement,
    report: (progress: LoadProgress) => void,
    signal: AbortSignal,
  ): Promise<Hosted>;
  /** What runs now of this host's models, also while it is being launched, and what an earlier router left of models that nobody knows any more. */
  engines(): Promise<readonly Hosted[]>;
  /** What a load of the model would find: its files in the page cache, as far as can be known, or not. */
  isWarm(member: EngineMember): boolean;
  /** The model was loaded; its files have been read. */
  loaded(member: EngineMember): Promise<void>;
  /** The newest log of the model's engines, also of one that is gone. */
  logOf(model: ModelName): Promise<LogRing | null>;
}
