// Staying with a job until its answer: polls bring it and keep the job alive; the stream of its events only makes the
// progress line quicker.

import { createClient, type Job, type Receipt } from "../client/index.ts";
import type { ModelStatusWire, StatusWire } from "../client/wire-status.ts";
import { sleepUntil, type Timer } from "../domain/clock.ts";
import { printAnswer, routerErrorFrom } from "./answer.ts";
import type { Io } from "./command.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { ProgressLine } from "./progress-line.ts";
import { progressText } from "./progress-text.ts";
import { span } from "./quantity.ts";
import { shownId } from "./record-id.ts";
import { type RouterClient, RouterError } from "./router-client.ts";

export interface Attendance {
  readonly json: boolean;
  /** What Ctrl-C does to the job. Ctrl-\ always leaves it. */
  readonly onInterrupt: "cancel" | "leave";
  /** What is known of it already. */
  readonly receipt?: Receipt | null;
}

/** How long requests about the job may fail: a router that restarts comes back. */
const PATIENCE_SECONDS = 300;
const STATUS_MS = 2_000;

export function attend(router: RouterClient, id: string, attendance: Attendance, io: Io): Promise<ExitCode> {
  return new Attendant(router, id, attendance, io).toItsEnd();
}

/** Why waiting ended before the answer. */
type Leaving = "interrupted" | "left" | "late";

class Attendant {
  readonly #router: RouterClient;
  readonly #id: string;
  readonly #how: Attendance;
  readonly #io: Io;
  readonly #job: Job;
  readonly #stop = new AbortController();
  readonly #line: ProgressLine;
  #receipt: Receipt | null;
  #heardMs: number;
  #model: ModelStatusWire | null = null;
  #leaving: Leaving | null = null;

  constructor(router: RouterClient, id: string, how: Attendance, io: Io) {
    this.#router = router;
    this.#id = id;
    this.#how = how;
    this.#io = io;
    this.#receipt = how.receipt ?? null;
    this.#heardMs = io.clock.nowMs();
    const apiKey = router.headers["authorization"]?.replace(/^Bearer /, "");
    const site = { baseURL: `${router.url}/v1`, endpoints: {}, apiKey };
    this.#job = createClient({ ...site, fetch: io.fetch, retrySeconds: PATIENCE_SECONDS }).job(id);
    const hint = how.onInterrupt === "cancel" ? "Ctrl-C cancels, Ctrl-\\ leaves it" : "Ctrl-C leaves it";
    this.#line = new ProgressLine(io, () => this.#text(), hint);
  }

  async toItsEnd(): Promise<ExitCode> {
    if (this.#receipt === null) await this.#router.confirm();
    const { signal } = this.#stop;
    const forget = this.#listen();
    this.#line.start();
    void this.#watchEvents();
    void this.#watchModel();
    try {
      const response = await this.#job.response({ signal, onStatus: (receipt) => this.#heard(receipt) });
      this.#line.stop();
      const code = await printAnswer(response, this.#how.json, this.#io);
      await this.#sayTimes();
      return code;
    } catch (error) {
      this.#line.stop();
      if (this.#leaving !== null) return await this.#leave(this.#leaving);
      throw routerErrorFrom(error, this.#router.url);
    } finally {
      this.#stop.abort();
      forget();
    }
  }

  #listen(): () => void {
    const { clock, onSignal, abort } = this.#io;
    const go = (why: Leaving): void => {
      if (this.#leaving !== null) abort(EXIT.interrupted);
      this.#leaving ??= why;
      this.#stop.abort();
    };
    const stops = [
      ...(["SIGINT", "SIGTERM", "SIGHUP"] as const).map((name) => onSignal(name, () => go("interrupted"))),
      onSignal("SIGQUIT", () => go("left")),
    ];
    const { timeoutMs } = this.#router;
    const timer: Timer | null = timeoutMs === null ? null : clock.at(clock.nowMs() + timeoutMs, () => go("late"));
    return () => {
      timer?.cancel();
      for (const stop of stops) stop();
    };
  }

  async #leave(why: Leaving): Promise<ExitCode> {
    const { err, say } = this.#io;
    const back = `sir jobs wait ${this.#id}`;
    if (why === "interrupted" && this.#how.onInterrupt === "cancel") {
      try {
        const { status } = await this.#job.cancel({ deadlineSeconds: 10 });
        err(status === "cancelled" ? `Cancelled ${this.#id}.` : `${this.#id} had ended already: ${status}.`);
      } catch {
        err(`The router did not confirm that ${this.#id} is cancelled: sir jobs cancel ${this.#id}`);
      }
      return EXIT.interrupted;
    }
    if (why === "late") {
      const text = `No answer in ${span(this.#router.timeoutMs ?? 0)}; the job lives on. Come back with: ${back}`;
      throw new RouterError(text, EXIT.timeout, "timeout");
    }
    say(`The job lives on. Come back with: ${back}`);
    return EXIT.interrupted;
  }

  #heard(receipt: Receipt): void {
    this.#receipt = receipt;
    this.#heardMs = this.#io.clock.nowMs();
  }

  #text(): string {
    if (this.#receipt === null) return `waiting for ${this.#id}`;
    return progressText(this.#receipt, this.#model, this.#io.clock.nowMs() - this.#heardMs, this.#io);
  }

  /** Without it the polls still tell, less often. */
  async #watchEvents(): Promise<void> {
    try {
      for await (const { receipt } of this.#job.events({ signal: this.#stop.signal })) this.#heard(receipt);
    } catch {
      // The polls report what matters.
    }
  }

  /** What its model waits for is the router's to say; a key that may not ask goes without. */
  async #watchModel(): Promise<void> {
    const { signal } = this.#stop;
    const { clock, quiet } = this.#io;
    while (!signal.aborted && !quiet) {
      const receipt = this.#receipt;
      try {
        if (receipt?.status === "queued") {
          const { models } = (await this.#router.ask("GET", "/v1/status")) as StatusWire;
          this.#model = models.find(({ id }) => id === receipt.model) ?? null;
        }
      } catch {
        if (!signal.aborted) this.#model = null;
      }
      await sleepUntil(clock, clock.nowMs() + STATUS_MS, signal);
    }
  }

  async #sayTimes(): Promise<void> {
    if (this.#io.quiet) return;
    const receipt = await this.#job.refresh({ deadlineSeconds: 5 }).catch(() => null);
    if (receipt === null || receipt.completed_at === null) return;
    const { created_at, started_at, completed_at } = receipt;
    const waited = span(((started_at ?? completed_at) - created_at) * 1_000);
    const ran = started_at === null ? "" : `, ran ${span((completed_at - started_at) * 1_000)}`;
    const dot = this.#io.screen.unicode ? " · " : " - ";
    this.#io.say([`waited ${waited}${ran}`, shownId(this.#id, this.#io), `sir explain ${this.#id}`].join(dot));
  }
}
