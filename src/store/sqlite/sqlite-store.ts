// The Store on SQLite. Writes go to the host and come back after COMMIT; reads are done here, on a connection that
// cannot write.

import type { CallerId, DecisionId, JobId, ModelName, OwnerId } from "../../domain/ids.ts";
import type { Job } from "../../domain/job.ts";
import type { LogEntry } from "../../domain/journal.ts";
import type { Ranking } from "../../domain/ranking.ts";
import type { BatchVerbs } from "../batch-verbs.ts";
import type { DeliveryVerbs } from "../delivery-verbs.ts";
import type { FileVerbs } from "../file-verbs.ts";
import type { HintVerbs } from "../hint-verbs.ts";
import type { History } from "../history.ts";
import type { ModelLog } from "../model-log.ts";
import {
  type Added,
  type AttemptEnd,
  type Authority,
  type Body,
  type DecisionQuery,
  type End,
  type Fence,
  type Finish,
  type JobQuery,
  type Keep,
  type NewJob,
  type Pick,
  type Requeue,
  type Result,
  type Store,
  StoreError,
  type Usage,
} from "../store.ts";
import { arrivalOf } from "./accept.ts";
import { createBatchVerbs } from "./batch-reads.ts";
import { type Contents, createContents, LARGE_BYTES } from "./contents.ts";
import { createDeliveryVerbs } from "./deliveries.ts";
import { createFileVerbs } from "./files.ts";
import { createHintVerbs } from "./hints.ts";
import { createHistory } from "./history.ts";
import type { Host } from "./host.ts";
import { acceptedJob } from "./job-row.ts";
import { createJobRows } from "./job-rows.ts";
import { keptOf } from "./keep.ts";
import { createListing, type Listing } from "./listing.ts";
import { createModelLog } from "./model-log.ts";
import type { Outbox } from "./outbox.ts";
import { parcel, postable } from "./parcel.ts";
import { createReads, type Reads } from "./reads.ts";
import type { SqliteStoreParts } from "./store-parts.ts";
import { createTimeline } from "./timeline.ts";

export class SqliteStore implements Store {
  /** The highest router time the store has seen before this run: the clock must start at least there. */
  readonly lastStampMs: number;
  /** Whether the router before ended in good order. */
  readonly cleanShutdown: boolean;
  readonly history: History;
  readonly about: ModelLog;
  readonly files: FileVerbs;
  readonly hints: HintVerbs;
  readonly batches: BatchVerbs;
  readonly deliveries: DeliveryVerbs;
  readonly timeline: Store["timeline"];
  readonly rows: Store["rows"];
  readonly #parts: SqliteStoreParts;
  readonly #outbox: Outbox;
  readonly #host: Host;
  readonly #reads: Reads;
  readonly #contents: Contents;
  readonly #listing: Listing;
  #ranking: Ranking;
  #walBytes = 0;
  #closing: Promise<void> | null = null;

  constructor(parts: SqliteStoreParts) {
    this.#parts = parts;
    this.#outbox = parts.outbox;
    this.#host = parts.host;
    this.#ranking = parts.ranking;
    this.lastStampMs = parts.boot.lastStampMs;
    this.cleanShutdown = parts.boot.cleanShutdown;
    this.history = createHistory(parts.reader);
    this.about = createModelLog(parts.reader);
    this.#reads = createReads(parts.reader);
    this.#contents = createContents(parts.reader);
    this.#listing = createListing(parts.reader);
    this.hints = createHintVerbs(parts.reader, parts.outbox, (act) => this.#read(act));
    this.files = createFileVerbs(parts.reader, parts.outbox, (act) => this.#read(act));
    this.deliveries = createDeliveryVerbs(parts.reader, parts.outbox, (act) => this.#read(act));
    this.timeline = createTimeline(parts.reader, (act) => this.#read(act));
    this.rows = createJobRows(parts.reader, { read: (act) => this.#read(act), breathe: () => this.#breathe() });
    this.batches = createBatchVerbs({
      ...parts,
      rankedBy: () => this.#ranking,
      read: (act) => this.#read(act),
    });
  }

  async add(job: NewJob): Promise<Added> {
    const at = this.#outbox.stamp();
    const made = acceptedJob(job, at, this.#ranking, true);
    const { body, moved } = postable(job.body, this.#host.remote, true);
    const arrival = arrivalOf(made, { ...job, body }, this.#parts.owner);
    const arrived = await this.#outbox.call("add", [arrival], { at, moved, sizeBytes: arrival.sizeBytes });
    if (arrived === "added") return { kind: "added", job: made };
    return typeof arrived === "string" ? { kind: arrived } : { kind: "replayed", job: arrived.replayed };
  }

  addVolatile(job: NewJob): { readonly job: Job; readonly recorded: Promise<void> } {
    const at = this.#outbox.stamp();
    const made = acceptedJob(job, at, this.#ranking, false);
    const recorded = this.#outbox.call("add", [arrivalOf(made, job, this.#parts.owner)], { at });
    return { job: made, recorded: recorded.then(() => undefined) };
  }

  keep(keep: Keep): Promise<Job | null> {
    // The engine may be reading these bytes, so they are copied.
    const { body, moved } = postable(keep.body, this.#host.remote, false);
    const kept = keptOf({ ...keep, body });
    return this.#outbox.call("keep", [kept], { moved, sizeBytes: kept.sizeBytes });
  }

  claim(authority: Authority, picks: readonly Pick[]): Promise<readonly (Job | null)[]> {
    return this.#outbox.call("claim", [authority, picks]);
  }

  finish(fence: Fence, finish: Finish, attempt: AttemptEnd): Promise<Job | null> {
    const { result } = finish;
    if (result === null) return this.#outbox.call("finish", [fence, finish, attempt]);
    // The relay still hands these bytes to whoever listens, so they are never taken away.
    const { bytes, moved } = this.#host.remote ? parcel(result.body, false) : { bytes: result.body, moved: [] };
    const whole = { ...finish, result: { ...result, body: bytes } };
    return this.#outbox.call("finish", [fence, whole, attempt], { moved, sizeBytes: bytes.byteLength });
  }

  requeue(fence: Fence, requeue: Requeue, attempt: AttemptEnd): Promise<Job | null> {
    return this.#outbox.call("requeue", [fence, requeue, attempt]);
  }

  end(id: JobId, end: End): ReturnType<Store["end"]> {
    return this.#outbox.call("end", [id, end]);
  }

  purge(id: JobId): Promise<Job | null> {
    return this.#outbox.call("purge", [id]);
  }

  markRead(id: JobId): void {
    this.#outbox.later("markRead", [id]);
  }

  notePolls(ids: readonly JobId[]): void {
    this.#outbox.notePolls(ids);
  }

  append(entries: readonly LogEntry[]): void {
    if (entries.length > 0) this.#outbox.later("append", [entries]);
  }

  job(id: JobId): Promise<Job | null> {
    return this.#read(() => this.#reads.job(id));
  }

  keyed(caller: CallerId, key: string): Promise<Job | null> {
    return this.#read(() => this.#reads.keyed(caller, key));
  }

  async body(id: JobId): Promise<Body | null> {
    const body = await this.#read(() => this.#contents.body(id, this.#limitBytes));
    return body === "large" ? this.#outbox.within(this.#host.body(id)) : body;
  }

  async result(id: JobId): Promise<Result | null> {
    const result = await this.#read(() => this.#contents.result(id, this.#limitBytes));
    return result === "large" ? this.#outbox.within(this.#host.result(id)) : result;
  }

  repeats(caller: CallerId, repeat: Uint8Array): ReturnType<Store["repeats"]> {
    return this.#read(() => this.#reads.repeats(caller, repeat));
  }

  jobs(query: JobQuery): ReturnType<Store["jobs"]> {
    return this.#read(() => this.#listing.jobs(query, () => this.#breathe()));
  }

  decision(id: DecisionId): ReturnType<Store["decision"]> {
    return this.#read(() => this.#reads.decision(id));
  }

  decisions(query: DecisionQuery): ReturnType<Store["decisions"]> {
    return this.#read(() => this.#listing.decisions(query, () => this.#breathe()));
  }

  waits(model: ModelName, fromMs: number, toMs: number): ReturnType<Store["waits"]> {
    return this.#read(() => this.#reads.waits(model, fromMs, toMs));
  }

  attempts(id: JobId): ReturnType<Store["attempts"]> {
    return this.#read(() => this.#reads.attempts(id));
  }

  loads(limit: number): ReturnType<Store["loads"]> {
    return this.#read(() => this.#reads.loads(limit));
  }

  eventsAfter(job: JobId, cursor: string | null, limit: number): ReturnType<Store["eventsAfter"]> {
    return this.#read(() => this.#reads.eventsAfter(job, cursor, limit));
  }

  downtimes(fromMs: number, toMs: number): ReturnType<Store["downtimes"]> {
    return this.#read(() => this.#reads.downtimes(fromMs, toMs));
  }

  deadOwners(): ReturnType<Store["deadOwners"]> {
    return this.#read(() => this.#reads.deadOwners(this.#parts.owner));
  }

  recover(authority: Authority, dead: readonly OwnerId[], maxInterruptions: number): ReturnType<Store["recover"]> {
    return this.#outbox.call("recover", [authority, dead, maxInterruptions]);
  }

  live(after: JobId | null, limit: number): Promise<readonly Job[]> {
    return this.#read(() => this.#reads.live(after, limit));
  }

  async rerank(ranking: Ranking): Promise<void> {
    this.#ranking = ranking;
    let after: string | null = "";
    while (after !== null) after = await this.#outbox.call("rerank", [ranking, after]);
  }

  prune(): Promise<boolean> {
    return this.#outbox.call("prune", []);
  }

  async maintain(): Promise<void> {
    try {
      this.#parts.verifyFiles();
    } catch (error) {
      this.#parts.onBroken(error instanceof Error ? error : new Error(String(error)));
      throw error;
    }
    await this.#outbox.flush();
    if (this.#outbox.failed) return;
    const { walBytes } = await this.#outbox.within(this.#host.upkeep());
    this.#walBytes = walBytes;
  }

  ping(): Promise<void> {
    return this.#outbox.call("touch", []);
  }

  async usage(): Promise<Usage> {
    const { storedBytes, jobs } = await this.#read(() => this.#reads.usage());
    return { storedBytes, jobs, walBytes: this.#walBytes };
  }

  async backup(path: string): Promise<void> {
    await this.#host.backup(path);
    await this.#parts.copySpool(path);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    try {
      if (!this.#outbox.failed) {
        await this.#outbox.flush();
        await this.#outbox.call("stop", []);
      }
    } finally {
      this.#parts.closeReader();
      await this.#host.close();
      this.#parts.release();
    }
  }

  get #limitBytes(): number {
    return this.#host.remote ? LARGE_BYTES : Number.MAX_SAFE_INTEGER;
  }

  /** Lets others have their turn; in the simulator nobody else is there. */
  #breathe(): Promise<void> {
    return this.#host.remote ? new Promise((resolve) => setImmediate(resolve)) : Promise.resolve();
  }

  async #read<Value>(read: () => Value | Promise<Value>): Promise<Value> {
    if (this.#outbox.dead) return new Promise(() => undefined);
    try {
      return await read();
    } catch (error) {
      if (error instanceof StoreError) throw error;
      throw new StoreError("unavailable", error instanceof Error ? error.message : "cannot read", error);
    }
  }
}
