// The answer of a job on standard output: its text for people, its bytes for programs; and what a failure comes to.

import { ApiError, JobCancelled, JobExpired, SirError } from "../client/index.ts";
import type { Io } from "./command.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { notThere, RouterError, refusal } from "./router-client.ts";

/** Prints what came, and says how the command ends. A refusal prints nothing on standard output. */
export async function printAnswer(response: Response, json: boolean, io: Io): Promise<ExitCode> {
  const bytes = new Uint8Array(await response.arrayBuffer());
  if (!response.ok) throw endOf(response, parsed(bytes));
  const text = json ? null : textOf(parsed(bytes));
  if (text !== null) io.out(text);
  else {
    io.write(bytes);
    if (io.screen.out && bytes.at(-1) !== 0x0a) io.write("\n");
  }
  return EXIT.done;
}

/** How the job ended, as an exit status. */
function endOf(response: Response, body: unknown): RouterError {
  const end = response.headers.get("sir-job-status");
  const error = refusal(response.status, body);
  if (end === "cancelled" || end === "expired") return new RouterError(error.message, EXIT.ended, error.body);
  return end === null ? error : new RouterError(error.message, EXIT.failed, error.body);
}

/** What the client threw, as a command's end; anything else is handed on. */
export function routerErrorFrom(error: unknown, url: string): unknown {
  if (error instanceof RouterError || !(error instanceof SirError)) return error;
  if (!(error instanceof ApiError)) {
    return error.code === "connection_failed" ? notThere(url, error.cause) : error;
  }
  const body = error.body;
  const refused = refusal(error.status, body);
  const ended = error instanceof JobCancelled || error instanceof JobExpired;
  return ended ? new RouterError(refused.message, EXIT.ended, refused.body) : refused;
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return null;
  }
}

/** The words of the first choice, of a completion or of a response; null where it holds no words. */
function textOf(body: unknown): string | null {
  const { choices, output } = Object(body) as { choices?: unknown; output?: unknown };
  const [choice] = Array.isArray(choices) ? (choices as Choice[]) : [];
  const said = choice?.message?.content ?? choice?.text;
  if (typeof said === "string") return said;
  if (!Array.isArray(output)) return null;
  const parts = (output as { content?: { text?: unknown }[] }[]).flatMap(({ content }) => content ?? []);
  const words = parts.flatMap(({ text }) => (typeof text === "string" ? [text] : []));
  return words.length === 0 ? null : words.join("");
}

interface Choice {
  readonly text?: unknown;
  readonly message?: { readonly content?: unknown };
}
