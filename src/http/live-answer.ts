// One streamed answer: the engine's bytes as they come, comments while there are none, and never a word of ours in
// between. The answer's headers wait for the engine's own; after ten seconds they go out without.

import type { Timer } from "../domain/clock.ts";
import type { Job } from "../domain/job.ts";
import type { Listener, Live } from "../engine/relay.ts";
import type { Accepted } from "../intake/intake.ts";
import type { Result } from "../store/store.ts";
import { callerOf } from "./caller.ts";
import { givenUpByUs, onAbort } from "./closing.ts";
import { type Call, type HttpWorld, onDelivered, socketOf } from "./deps.ts";
import { Refusal } from "./engine-error.ts";
import { brokenOffError, type ErrorFields, errorFields } from "./error-body.ts";
import { type Gone, Outflow } from "./outflow.ts";
import { queueComment } from "./queue-comment.ts";
import { jobError } from "./receipt.ts";
import { comment, commentLine, frame, SSE_HEADERS, StreamEdge } from "./sse.ts";
import { storedAnswer, VARY } from "./stored-answer.ts";

const HEADERS_WAIT_MS = 10_000;
const KEEP_ALIVE_MS = 12_000;
/** Streams of sound have no comments: their headers wait as long as the engine does. */
const NOT_SSE: ReadonlySet<string> = new Set(["/v1/audio/speech"]);

type Head = Parameters<Live["head"]>[0];
type Opening =
  | { readonly kind: "engine"; readonly head: Head }
  | { readonly kind: "comments" }
  | { readonly kind: "final"; readonly job: Job; readonly result: Result | null }
  | { readonly kind: "ending" }
  | { readonly kind: "left" };

export class LiveAnswer implements Listener {
  readonly live: Live;
  readonly #c: Call;
  readonly #world: HttpWorld;
  readonly #endpoint: string;
  readonly #orphanMs: number;
  readonly #out: Outflow;
  readonly #edge = new StreamEdge();
  readonly #opening: Promise<Opening>;
  #resolveOpening: (opening: Opening) => void = () => undefined;
  #opened: Opening["kind"] | null = null;
  /** The engine refused in time: its status and its bytes are the answer. */
  #refusalSent = false;
  /** The engine refused after our headers had gone out: an error event says so at the end. */
  #refusedLate: Refusal | null = null;
  #started = false;
  #over = false;
  #accepted: Accepted | null = null;
  #timer: Timer | null = null;
  #unlisten: (() => void)[] = [];

  /** @param orphanMs How long the job keeps its place when this caller leaves. */
  constructor(c: Call, world: HttpWorld, endpoint: string, orphanMs: number) {
    this.#c = c;
    this.#world = world;
    this.#endpoint = endpoint;
    this.#orphanMs = orphanMs;
    const { outgoing } = socketOf(c);
    const hangUp = outgoing === undefined ? null : () => void outgoing.destroy();
    this.#out = new Outflow(world.clock, (why) => this.#leave(why), hangUp);
    this.#opening = new Promise((resolve) => {
      this.#resolveOpening = resolve;
    });
    this.live = { head: (head) => this.#head(head), chunk: (bytes) => this.#chunk(bytes) };
  }

  /** The answer, as soon as its status is known. */
  async open(accepted: Accepted): Promise<Response> {
    this.#accepted = accepted;
    if (this.#over) {
      accepted.detach();
      accepted.hold?.release();
    } else this.#listen();
    const opening = await this.#opening;
    switch (opening.kind) {
      case "final":
        return storedAnswer(this.#c, this.#world, opening.job, opening.result);
      case "ending":
        throw brokenOffError();
      case "left":
        return new Response(null, { status: 499 });
      default:
        return this.#stream(opening.kind === "engine" ? opening.head : { status: 200, headers: SSE_HEADERS });
    }
  }

  /** The job is over: what its caller has not had yet, and the end. */
  done(job: Job, result: Result | null): void {
    if (this.#over) return;
    this.#finish(() => this.#accepted?.hold?.release());
    if (this.#opened === null) {
      this.#openWith(givenUpByUs(job) ? { kind: "ending" } : { kind: "final", job, result });
    } else if (job.state.status === "succeeded") {
      if (!this.#started && result !== null) void this.#out.write(result.body);
      this.#out.end(() => this.#delivered(job));
    } else if (this.#refusalSent) {
      this.#out.end(() => this.#delivered(job));
    } else {
      const error = (givenUpByUs(job) ? null : jobError(job)) ?? errorFields(brokenOffError());
      this.#endWith(this.#refusedLate?.error(error) ?? error);
    }
  }

  #listen(): void {
    const { signal } = this.#c.req.raw;
    this.#unlisten.push(onAbort(signal, () => this.#leave("left")));
    const ending = this.#world.closing?.ending;
    if (ending !== undefined) this.#unlisten.push(onAbort(ending, () => this.#end()));
    if (this.#opened !== null) this.#keepAlive();
    else if (!NOT_SSE.has(this.#endpoint)) this.#after(HEADERS_WAIT_MS, () => this.#openWith({ kind: "comments" }));
  }

  #openWith(opening: Opening): void {
    if (this.#opened !== null) return;
    this.#opened = opening.kind;
    this.#resolveOpening(opening);
    if (opening.kind === "comments") void this.#comment();
    else if (opening.kind === "engine") this.#keepAlive();
  }

  #head(head: Head): void {
    if (this.#over) return;
    if (this.#opened !== null) {
      this.#refusedLate = head.status >= 400 ? new Refusal() : null;
      return;
    }
    this.#refusalSent = head.status >= 400;
    this.#openWith({ kind: "engine", head });
  }

  #chunk(bytes: Uint8Array): Promise<void> | void {
    if (this.#over) return;
    if (this.#refusedLate !== null) {
      this.#refusedLate.add(bytes);
      return;
    }
    if (!this.#started && this.#endpoint === "/v1/responses") this.#world.passing.note(callerOf(this.#c), bytes);
    this.#started = true;
    this.#edge.see(bytes);
    this.#keepAlive();
    return this.#out.write(bytes);
  }

  #stream({ status, headers }: Head): Response {
    const retry: Record<string, string> = status >= 400 ? { "x-should-retry": "false" } : {};
    return new Response(this.#out.stream, {
      status,
      headers: {
        "cache-control": "no-cache",
        "x-accel-buffering": "no",
        ...headers,
        ...retry,
        vary: VARY,
        "sir-job-id": this.#accepted?.job.id ?? "",
      },
    });
  }

  /** Arms the next sign of life; each byte of the engine's puts it off. */
  #keepAlive(): void {
    if (this.#opened === null || this.#over || this.#accepted === null || this.#refusalSent) return;
    if (NOT_SSE.has(this.#endpoint)) return;
    this.#after(KEEP_ALIVE_MS, () => void this.#comment());
  }

  async #comment(): Promise<void> {
    const job = this.#accepted?.job;
    if (job === undefined || this.#over) return;
    if (this.#started) {
      if (this.#edge.atLine) void this.#out.write(commentLine("keep-alive"));
    } else {
      const text = await queueComment(this.#world, job);
      if (!this.#over && !this.#started) void this.#out.write(comment(text));
    }
    this.#keepAlive();
  }

  /** After an error the stream closes without `[DONE]`: an answer that was cut must not look complete. */
  #endWith(error: ErrorFields): void {
    if (this.#started && !this.#edge.atEvent) void this.#out.write(Buffer.from("\n\n"));
    const { message, type, param, code } = error;
    const body = { message, type, param, code };
    const anthropic = this.#endpoint.startsWith("/v1/messages");
    const data = JSON.stringify(anthropic ? { type: "error", error: body } : { error: body });
    void this.#out.write(frame(anthropic ? { event: "error", data } : { data }));
    this.#out.end();
  }

  /** The router goes down; the engine deals with the job. */
  #end(): void {
    if (this.#over) return;
    this.#finish(() => this.#accepted?.hold?.drop(this.#orphanMs));
    if (this.#opened === null) this.#openWith({ kind: "ending" });
    else this.#endWith(errorFields(brokenOffError()));
  }

  #leave(why: Gone): void {
    if (this.#over) return;
    this.#finish(() => this.#accepted?.hold?.drop(this.#orphanMs));
    if (why !== "left") {
      this.#world.log?.({ type: "http.dropped", requestId: this.#c.get("requestId"), reason: why });
    }
    this.#openWith({ kind: "left" });
  }

  #finish(letGo: () => void): void {
    this.#over = true;
    this.#timer?.cancel();
    for (const stop of this.#unlisten.splice(0)) stop();
    this.#accepted?.detach();
    letGo();
  }

  #delivered(job: Job): void {
    onDelivered(this.#c, () => this.#accepted?.delivered());
    if (job.durable) onDelivered(this.#c, () => this.#world.store.markRead(job.id));
  }

  #after(waitMs: number, fire: () => void): void {
    this.#timer?.cancel();
    this.#timer = this.#world.clock.at(this.#world.clock.nowMs() + waitMs, fire);
  }
}
