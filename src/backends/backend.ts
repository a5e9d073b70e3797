// What a driver must do. It only obeys: it knows no store and no scheduler, and `run` never throws.

import type { z } from "zod";
import type { Clock } from "../domain/clock.ts";
import type { LoadTier } from "../domain/event.ts";
import type { DeviceId, InstanceId, ModelName } from "../domain/ids.ts";
import type { ModelSpec } from "../domain/model.ts";

/** Where a model is to live. */
export interface Placement {
  readonly instance: InstanceId;
  readonly model: ModelName;
  /** Null for models that are always on elsewhere. */
  readonly device: DeviceId | null;
  /** All of its devices, when it is loaded across several; `device` is the first. */
  readonly devices?: readonly DeviceId[];
  /** Of this load; what a driver writes down beside what it starts, so that a later router counts on from there. */
  readonly epoch?: number;
}

/** A model being resident somewhere. `endpoint` is the driver's own address for it, opaque to everyone else. */
export interface Instance extends Placement {
  readonly endpoint: string;
  /** Raised by each load; what an old epoch reports is ignored. */
  readonly epoch: number;
}

export interface LoadProgress {
  readonly phase: "pulling" | "starting" | "loading" | "warming" | "waking";
  /** 0..1, or null when the engine does not say. */
  readonly progress: number | null;
}

/** What one attempt sends. Headers are final: nothing of the caller's own credentials is in them. */
export interface Call {
  readonly endpoint: string;
  readonly contentType: string;
  /** Lower-case names: accept, user-agent, traceparent, x-client-request-id. */
  readonly headers: Readonly<Record<string, string>>;
  readonly sizeBytes: number;
  /** The exact bytes; may be called once. */
  body(): AsyncIterable<Uint8Array>;
  /** True: the caller asked for a stream, so the answer must end with its terminator. */
  readonly stream: boolean;
  readonly firstByteTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly runTimeoutMs: number;
}

export interface Head {
  readonly status: number;
  /** content-type and content-disposition only. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Takes the answer as it comes. `chunk` resolves when more may come (back-pressure). Not called for 5xx, 429 and 503. */
export interface Sink {
  head(head: Head): void;
  chunk(bytes: Uint8Array): Promise<void> | void;
}

/**
 * How one attempt ended.
 *
 * - `succeeded`: 2xx, complete, no in-band error. `refused`: another 4xx; the caller's own fault, passed on unchanged.
 * - `busy`: engine 429 or 503. `lost`: connection refused or reset before a byte, engine gone. Neither costs an attempt.
 * - `failed`: 5xx, cut body, missing terminator, in-band error, timeout. Costs an attempt.
 * - `aborted`: our own signal, after the socket was closed.
 */
export type Outcome =
  | { readonly kind: "succeeded" }
  | { readonly kind: "refused" }
  | { readonly kind: "busy"; readonly retryAfterMs: number | null; readonly detail: string }
  | { readonly kind: "lost"; readonly detail: string }
  | {
      readonly kind: "failed";
      readonly code: "backend_error" | "execution_timeout";
      readonly detail: string;
    }
  | { readonly kind: "aborted" };

/** Why a load failed, with the engine's last words. */
export class LoadError extends Error {
  readonly logTail: readonly string[];

  constructor(message: string, logTail: readonly string[] = [], cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "LoadError";
    this.logTail = logTail;
  }
}

export interface Capabilities {
  /** False: always on elsewhere. `start` and `stop` are then never called. */
  readonly loads: boolean;
  /** Whether `stop` can know that memory is back. */
  readonly knowsMemory: boolean;
  /** Whether one model can run on two devices at once, each time where it is placed. Absent: it cannot. */
  readonly copies?: boolean;
}

/** What a driver knows of a model before anything was measured; what is absent is not known. */
export interface Expectation {
  readonly unloadMs?: number;
  /** One job's run when it runs alone. */
  readonly aloneMs?: number;
  /** n jobs in flight each take 1 + this x (n - 1) times as long. */
  readonly slowdownPerJob?: number;
}

export interface Backend {
  readonly can: Capabilities;
  /** First guesses that measurements replace; absent: it knows nothing. */
  expects?(model: ModelName): Expectation;
  /**
   * Resolves when the model can serve, after a real probe. Aborting stops the start and leaves nothing behind before it
   * rejects. @throws {LoadError}
   */
  start(
    placement: Placement,
    report: (progress: LoadProgress) => void,
    signal: AbortSignal,
  ): Promise<{ endpoint: string; tier?: LoadTier }>;
  /** What the next load of `model` would be, cheaply; absent: always `cold`. */
  nextTier?(model: ModelName): LoadTier;
  /** Registers who hears of instances that end by themselves, at once, with the engine's last words. */
  onLost?(listener: (instance: InstanceId, detail: string) => void): void;
  /** Resolves only when the memory is free, or says that it cannot know. @throws {LoadError} when it will not stop. */
  stop(instance: Instance, graceMs: number, signal: AbortSignal): Promise<{ memory: "free" | "unknown" }>;
  /** One attempt. Never rejects. After an abort it resolves once the socket is closed. */
  run(instance: Instance, call: Call, sink: Sink, signal: AbortSignal): Promise<Outcome>;
  /**
   * Asks the engine for one token: true when it answers. For an engine that looks healthy and makes no progress.
   * Absent: it cannot be asked, and is never taken for stuck.
   */
  answers?(instance: Instance, signal: AbortSignal): Promise<boolean>;
  /** Cheap sign of life, asked while idle. */
  alive(instance: Instance, signal: AbortSignal): Promise<boolean>;
  /**
   * What really runs now, also left over from an earlier router; what cannot be recognised as ours is not listed. Each is
   * adopted or stopped before anything is loaded.
   */
  inspect(): Promise<readonly Instance[]>;
  /** The engine's newest log lines, oldest first. */
  logs(model: ModelName, lines: number): Promise<readonly string[]>;
  /** The newest `lines` lines, then each further one until `signal` is aborted. Absent: only `logs` can be asked. */
  followLogs?(model: ModelName, lines: number, signal: AbortSignal): AsyncIterable<string>;
  close(): Promise<void>;
}

export interface DriverContext {
  readonly clock: Clock;
  /** Variables that a driver knows by name, e.g. `DOCKER_HOST`. Absent: none is set. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Absolute folder for records of what was started, so that a later router finds it. Absent: nothing is kept. */
  readonly dataDir?: string;
}

export interface Member<Options> {
  readonly spec: ModelSpec;
  readonly options: Options;
}

/** One kind of backend. One file defines it, one line in `registry.ts` makes it known. */
export interface Driver<Schema extends z.ZodType = z.ZodType> {
  readonly name: string;
  readonly options: Schema;
  /** False: its models are always resident and use no device. */
  readonly usesDevice: boolean;
  /** Models with equal keys share one backend (several models on one server). */
  shareKey(model: ModelName, options: z.output<Schema>): string;
  create(members: readonly Member<z.output<Schema>>[], context: DriverContext): Backend;
}

/** Typed identity: keeps the options' type for the configuration. */
export function defineDriver<Schema extends z.ZodType>(driver: Driver<Schema>): Driver<Schema> {
  return driver;
}
