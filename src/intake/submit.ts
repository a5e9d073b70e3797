// From an HTTP request to an accepted job. `prepare` reads and checks everything and stores nothing; `accept` makes it a
// job: stored first where a promise is made (a receipt, an idempotency key), run at once where only a socket waits.

import { createHash } from "node:crypto";
import { priorityOfServiceTier } from "../domain/band.ts";
import type { Clock } from "../domain/clock.ts";
import type { Emit } from "../domain/event.ts";
import { DEFAULT_POOL, type IdSource } from "../domain/ids.ts";
import type { EngineControl } from "../engine/control.ts";
import type { Listener } from "../engine/relay.ts";
import type { NewJob, Store } from "../store/store.ts";
import { acceptVolatile, addDurably, enter, isRepeated, join, type Mode, mayBeStored, takeUp } from "./accept.ts";
import { createAdmission, createBudget, tooManyBodies } from "./admission.ts";
import type { BodyFiles } from "./body-files.ts";
import { refuseInfeasible } from "./feasible.ts";
import { readHeaders } from "./headers.ts";
import type { Accepted, IncomingCall, Intake, PreparedCall } from "./intake.ts";
import { readMedia } from "./media.ts";
import type { ModelDirectory } from "./models.ts";
import { BodyKeeper, checkContentLength, MEMORY_BODY_BYTES, readBody } from "./read-body.ts";
import { Repeats } from "./repeats.ts";

/** Its `background` is carried out here: the engine answers such a request as any other. */
const RESPONSES = "/v1/responses";

export interface IntakeSettings {
  /** How long a synchronous caller who left may come back. */
  readonly orphanMs: number;
  readonly bodyLimitBytes: number;
  /** For callers who name none. */
  readonly leaseMs: number;
  readonly sweepMs: number;
  /** Queued jobs over all models. */
  readonly maxQueued: number;
  /** Bodies being read at once. */
  readonly maxOpenBodies: number;
  /** Bytes of bodies in memory, being read or waiting with a plain synchronous request; beyond it they go to files. */
  readonly maxMemoryBytes: number;
}

export interface IntakeDeps {
  readonly store: Pick<Store, "add" | "addVolatile" | "job" | "keyed" | "repeats">;
  readonly engine: EngineControl;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly files: BodyFiles;
  readonly models: ModelDirectory;
  readonly settings: IntakeSettings;
  readonly emit: Emit;
}

export function createIntake(deps: IntakeDeps): Intake {
  const { settings } = deps;
  const admission = createAdmission(deps.engine, settings.maxQueued);
  const memory = createBudget(settings.maxMemoryBytes);
  const open = createBudget(settings.maxOpenBodies);
  const repeats = new Repeats({ ...deps, orphanMs: settings.orphanMs });
  /** What a prepared body occupies; by the body itself, so that a copy of the call is as good as the call. */
  const keepers = new WeakMap<PreparedCall["body"], BodyKeeper>();

  const prepare = async (call: IncomingCall): Promise<PreparedCall> => {
    admission.check();
    const media = readMedia(call.header);
    const headers = readHeaders(call.header, settings);
    const announced = checkContentLength(call.header("content-length"), settings.bodyLimitBytes);
    if (!open.take(1)) throw tooManyBodies(settings.maxOpenBodies);
    const isFile = media.kind === "multipart" || (announced ?? 0) > MEMORY_BODY_BYTES;
    const keeper = new BodyKeeper(deps.files, memory, isFile);
    try {
      const read = await readBody(call.body, media, keeper, {
        limitBytes: settings.bodyLimitBytes,
        ownBackground: call.endpoint === RESPONSES,
      });
      const { fields, modelSpan, sizeBytes, sha256, source } = read;
      const model = deps.models.resolve(fields.model);
      const { idempotencyKey, forwarded, priority, ...rest } = headers;
      const body = { contentType: media.contentType, sizeBytes, sha256, headers: forwarded, modelSpan, source };
      const fingerprint = fingerprintOf(call.endpoint, read.contentDigest);
      keepers.set(body, keeper);
      return {
        ...rest,
        endpoint: call.endpoint,
        caller: call.caller,
        model,
        fields,
        body,
        priority: priority ?? priorityOfServiceTier(fields.serviceTier),
        idempotency: idempotencyKey === null ? null : { key: idempotencyKey, fingerprint },
        repeat: headers.retryCount === null ? null : fingerprint,
        metadata: {},
        discard: () => keeper.discard(),
      };
    } catch (error) {
      await keeper.discard();
      throw error;
    } finally {
      open.give(1);
    }
  };

  const accept = async (call: PreparedCall, mode: Mode, listener?: Listener): Promise<Accepted> => {
    const keeper = keepers.get(call.body);
    let release = (): void => undefined;
    try {
      const left = mode === "sync" && isRepeated(call) ? await takeUp({ ...deps, repeats }, call, listener) : null;
      if (left !== null) {
        await call.discard();
        return left;
      }
      release = admission.reserve(call.model.name);
      if (call.refuseInfeasible) await refuseInfeasible(deps, call);
      const job = newJobOf(deps.ids, call, mode);
      if (mode === "sync" && call.idempotency === null) {
        return acceptVolatile({ ...deps, repeats }, job, { listener, repeat: call.repeat, keeper });
      }
      const { job: stored, replayed } = await addDurably(deps.store, job);
      if (replayed) {
        await call.discard();
        return await join(deps, stored, mode, listener);
      }
      keeper?.releaseMemory();
      return enter(deps.engine, stored, mode, listener);
    } catch (error) {
      if (mayBeStored(error)) deps.engine.reconcile();
      else await call.discard();
      throw error;
    } finally {
      release();
    }
  };

  return { prepare, accept };
}

/** The same method, path and content; headers differ between attempts. */
function fingerprintOf(endpoint: string, contentDigest: Uint8Array): Uint8Array {
  return createHash("sha256").update(`POST ${endpoint}\n`).update(contentDigest).digest();
}

function newJobOf(ids: IdSource, call: PreparedCall, mode: Mode): NewJob {
  return {
    id: ids.next("job"),
    pool: DEFAULT_POOL,
    caller: call.caller,
    model: call.model.name,
    endpoint: call.endpoint,
    priority: call.priority,
    stream: call.fields.stream,
    origin: mode === "sync" ? "socket" : mode === "async" ? "receipt" : "background",
    leaseMs: mode === "background" ? null : call.leaseMs,
    deadlineMs: call.deadlineMs,
    traceparent: call.traceparent,
    clientRequestId: call.clientRequestId,
    metadata: call.metadata,
    body: call.body,
    idempotency: call.idempotency,
  };
}
