// Names of things. A brand is used only where two strings could be mixed up.

declare const brand: unique symbol;
type Brand<Name extends string> = string & { readonly [brand]: Name };

/** `job_` and the 32 hex digits of a UUIDv7. Ids made by one process sort in the order they were made. */
export type JobId = Brand<"JobId">;
/** `dec_` and 32 hex digits. */
export type DecisionId = Brand<"DecisionId">;
/** `hint_` and 32 hex digits. */
export type HintId = Brand<"HintId">;
/** One load of one model on one device: `ins_` and 32 hex digits. A new load is a new instance. */
export type InstanceId = Brand<"InstanceId">;
/** One run of one router process: `boot_` and 32 hex digits. Never reused, unlike a host name. */
export type OwnerId = Brand<"OwnerId">;
/** A model's key in the configuration. Aliases are resolved before anything is stored. */
export type ModelName = Brand<"ModelName">;
/** A device's key in the configuration. */
export type DeviceId = Brand<"DeviceId">;
/** Devices that one scheduler decides for. A single box has one, `default`. */
export type PoolId = Brand<"PoolId">;
/** `file-` and 32 hex digits: with the hyphen that clients of OpenAI's files look for. */
export type FileId = Brand<"FileId">;
/** `batch_` and 32 hex digits. */
export type BatchId = Brand<"BatchId">;
/** Who asked: the name of a key, or `local` where there are no keys. */
export type CallerId = Brand<"CallerId">;

export const DEFAULT_POOL = "default" as PoolId;
export const LOCAL_CALLER = "local" as CallerId;

export type IdPrefix = "job" | "dec" | "ins" | "boot" | "req" | "hint" | "file" | "batch" | "replay";

/** Makes ids. Injected, so that a simulated day is the same each time. */
export interface IdSource {
  next(prefix: "job"): JobId;
  next(prefix: "dec"): DecisionId;
  next(prefix: "ins"): InstanceId;
  next(prefix: "boot"): OwnerId;
  next(prefix: "req" | "file" | "replay"): string;
  next(prefix: "batch"): BatchId;
  next(prefix: "hint"): HintId;
}

/** The lowest job id that could have been made at `atMs`: ids begin with their instant. */
export function jobIdAt(atMs: number): JobId {
  return `job_${uuidV7Hex(atMs, 0, new Uint8Array(8))}` as JobId;
}

/** As `jobIdAt`, for decisions. */
export function decisionIdAt(atMs: number): DecisionId {
  return `dec_${uuidV7Hex(atMs, 0, new Uint8Array(8))}` as DecisionId;
}

const HINT_ID = /^hint_[0-9a-f]{32}$/;

/** The id, or null when the text is not one. */
export function parseHintId(text: string): HintId | null {
  return HINT_ID.test(text) ? (text as HintId) : null;
}

const JOB_ID = /^job_[0-9a-f]{32}$/;

/** The id, or null when the text is not one (the caller answers 404, not 400: an ill-formed id names no job). */
export function parseJobId(text: string): JobId | null {
  return JOB_ID.test(text) ? (text as JobId) : null;
}

const FILE_ID = /^file-[0-9a-f]{32}$/;

/** Null: it names no file. */
export function parseFileId(text: string): FileId | null {
  return FILE_ID.test(text) ? (text as FileId) : null;
}

const BATCH_ID = /^batch_[0-9a-f]{32}$/;

/** Null: it names no batch. */
export function parseBatchId(text: string): BatchId | null {
  return BATCH_ID.test(text) ? (text as BatchId) : null;
}

export function newFileId(ids: IdSource): FileId {
  return ids.next("file").replace("_", "-") as FileId;
}

/**
 * 32 hex digits of a UUIDv7 (RFC 9562 §5.7): 48 bits of Unix ms, version, 12 bits of counter, variant, 62 random bits.
 * The counter occupies `rand_a`, so ids of one millisecond sort by it.
 */
export function uuidV7Hex(unixMs: number, counter: number, random: Uint8Array): string {
  const time = Math.max(0, Math.floor(unixMs)).toString(16).padStart(12, "0").slice(-12);
  const sequence = (counter & 0xfff).toString(16).padStart(3, "0");
  const variant = (((random[0] ?? 0) & 0x3f) | 0x80).toString(16);
  let rest = "";
  for (let i = 1; i < 8; i++) rest += (random[i] ?? 0).toString(16).padStart(2, "0");
  return `${time}7${sequence}${variant}${rest}`;
}
