// An answer as it is written: the socket is the job's lease, comments say where it waits, events bring the words.

import { type Io, UsageError } from "./command.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { ProgressLine } from "./progress-line.ts";
import { span } from "./quantity.ts";
import { type RouterClient, RouterError } from "./router-client.ts";

export interface StreamRequest {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
}

/** @throws {RouterError} where the router or the engine refuses */
export async function streamAnswer(
  router: RouterClient,
  { path, body, headers }: StreamRequest,
  json: boolean,
  io: Io,
): Promise<ExitCode> {
  const stop = new AbortController();
  const sinceMs = io.clock.nowMs();
  let place = "waiting";
  const line = new ProgressLine(io, () => `${place} ${span(io.clock.nowMs() - sinceMs)}`, "Ctrl-C cancels");
  const forget = (["SIGINT", "SIGTERM", "SIGHUP"] as const).map((name) => io.onSignal(name, () => stop.abort()));
  const asIs = io.onSignal("SIGQUIT", () => io.say("A streamed answer cannot be left running; Ctrl-C cancels it."));
  let id: string | null = null;
  line.start();
  try {
    const sent = { method: "POST", headers: { "content-type": "application/json", ...headers } };
    const init = { ...sent, body: JSON.stringify({ ...body, stream: true }), signal: stop.signal };
    const response = await router.open(path, init);
    id = response.headers.get("sir-job-id");
    const words = new Words(json, io, () => line.stop());
    for await (const said of linesOf(response)) {
      if (said.startsWith(":")) place = said.slice(1).trim() || place;
      else words.take(said);
    }
    words.end();
    if (id !== null) io.say(`sir explain ${id}`);
    return EXIT.done;
  } catch (error) {
    line.stop();
    if (!stop.signal.aborted) throw error;
    if (id !== null) await router.ask("POST", `/v1/jobs/${id}/cancel`).catch(() => null);
    io.err("Cancelled.");
    return EXIT.interrupted;
  } finally {
    line.stop();
    for (const each of [...forget, asIs]) each();
  }
}

async function* linesOf({ body }: Response): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of body ?? []) {
    const lines = (rest + decoder.decode(chunk as Uint8Array, { stream: true })).split(/\r?\n/);
    rest = lines.pop() ?? "";
    yield* lines;
  }
  if (rest !== "") yield rest;
}

class Words {
  readonly #json: boolean;
  readonly #io: Io;
  readonly #first: () => void;
  #begun = false;
  #last = "\n";

  constructor(json: boolean, io: Io, first: () => void) {
    this.#json = json;
    this.#io = io;
    this.#first = first;
  }

  /** @throws {RouterError} for an error in the stream */
  take(line: string): void {
    if (!line.startsWith("data:")) return;
    const data = line.slice(5).trim();
    if (data === "" || data === "[DONE]") return;
    const event = parsedEvent(data);
    const { error } = event;
    if (error !== undefined && error !== null) {
      const message = typeof error === "object" && "message" in error ? String(error.message) : String(error);
      throw new RouterError(message, EXIT.failed, "engine_error");
    }
    if (!this.#begun) this.#first();
    this.#begun = true;
    const words = this.#json ? `${data}\n` : wordsOf(event);
    if (words === "") return;
    this.#io.write(words);
    this.#last = words;
  }

  end(): void {
    if (!this.#json && !this.#last.endsWith("\n")) this.#io.write("\n");
  }
}

interface StreamedEvent {
  readonly error?: unknown;
  readonly type?: unknown;
  readonly delta?: unknown;
  readonly choices?: readonly { readonly text?: unknown; readonly delta?: { readonly content?: unknown } }[];
}

function parsedEvent(data: string): StreamedEvent {
  try {
    return Object(JSON.parse(data)) as StreamedEvent;
  } catch {
    throw new RouterError("The stream holds what is no JSON.", EXIT.failed, "bad_stream");
  }
}

/** Of chat, completions and responses. */
function wordsOf({ choices, type, delta }: StreamedEvent): string {
  if (type === "response.output_text.delta") return String(delta ?? "");
  const [choice] = choices ?? [];
  const words = choice?.delta?.content ?? choice?.text;
  return typeof words === "string" ? words : "";
}

/** @throws {UsageError} for what a stream cannot have */
export function refuseWithStream(args: Readonly<Record<string, unknown>>): void {
  if (args["detach"] === true) throw new UsageError("--stream needs somebody who reads: leave --detach out.");
  if (args["timeout"] !== undefined) {
    throw new UsageError("A streamed answer ends with its reader: use --deadline instead of --timeout.");
  }
}
