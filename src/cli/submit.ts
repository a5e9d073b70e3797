// `sir submit`: one request from a terminal, with a line that says what it waits for.

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { createClient } from "../client/index.ts";
import { BANDS } from "../domain/band.ts";
import { printAnswer, routerErrorFrom } from "./answer.ts";
import { attend } from "./attend.ts";
import { defineSirCommand, type Io, UsageError } from "./command.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { spanSeconds } from "./instant.ts";
import { ROUTER_ARGS, type RouterClient, routerClient, withRouter } from "./router-client.ts";
import { refuseWithStream, streamAnswer } from "./stream-answer.ts";
import { choiceOf } from "./verb.ts";

/** Whoever waits at a terminal wants to hear soon that nothing answers there. */
const SUBMIT_PATIENCE_SECONDS = 1;
/** The longest there is: a job that is left on purpose must not die of it. */
const LEASE_SECONDS = 86_400;

export const submit = defineSirCommand({
  name: "submit",
  summary: "Send a request, watch where it stands, and print its answer.",
  examples: [
    ['sir submit -m chat "What is a lease?"', "Ctrl-C cancels it, Ctrl-\\ leaves it running"],
    ["git diff | sir submit -m code --system 'Review this.' -", "the prompt from standard input"],
    [
      "sir submit -m chat --file essay.txt --priority batch --detach",
      "only the receipt; sir jobs wait ID brings the answer",
    ],
    ["sir submit --body request.json --endpoint /v1/embeddings --json", "a whole request, and the engine's own bytes"],
  ],
  args: {
    prompt: { type: "positional", required: false, description: "The user's message; - reads standard input." },
    model: { type: "string", alias: "m", valueHint: "M", description: "A model's name or alias." },
    system: { type: "string", valueHint: "TEXT", description: "A system message before it." },
    file: { type: "string", valueHint: "F", description: "Read the prompt from this file." },
    body: { type: "string", valueHint: "F", description: "Send this file's JSON as it is; -m sets its model." },
    endpoint: { type: "string", default: "/v1/chat/completions", valueHint: "PATH", description: "Where to." },
    priority: { type: "string", valueHint: "P", description: "interactive, normal, batch or an integer." },
    deadline: { type: "string", valueHint: "T", description: "Cancel it when it is not done by then: 90s, 10m." },
    lease: { type: "string", valueHint: "T", description: "How long it lives when nobody asks for it; default 24h." },
    maxTokens: { type: "string", valueHint: "N", description: "Sent as max_tokens." },
    stream: { type: "boolean", description: "Print the words as they come; the job ends with this command." },
    detach: { type: "boolean", alias: "d", description: "Print the receipt and leave." },
    header: {
      type: "string",
      alias: "H",
      valueHint: "K:V",
      description: "A request header; may be given several times.",
    },
    ...ROUTER_ARGS,
  },
  repeats: ["header"],
  run: async (args, io) => {
    const json = args["json"] === true;
    const router = await routerClient(args, io);
    return withRouter(io, json, async () => {
      const request = { path: pathOf(args["endpoint"]), body: await bodyOf(args, io), headers: headersOf(args) };
      await router.confirm();
      if (args["stream"] !== true) return send(router, request, args, io);
      refuseWithStream(args);
      return streamAnswer(router, request, json, io);
    });
  },
});

type Args = Readonly<Record<string, unknown>>;
type Request = Parameters<typeof streamAnswer>[1];

async function send(router: RouterClient, request: Request, args: Args, io: Io): Promise<ExitCode> {
  const json = args["json"] === true;
  const apiKey = router.headers["authorization"]?.replace(/^Bearer /, "");
  const client = createClient({
    ...{ baseURL: `${router.url}/v1`, endpoints: {}, apiKey },
    ...{ fetch: io.fetch, retrySeconds: SUBMIT_PATIENCE_SECONDS },
  });
  const { path, body, headers } = request;
  const leaseSeconds = typeof args["lease"] === "string" ? spanSeconds(args["lease"], "lease") : LEASE_SECONDS;
  const job = await client
    .submit(body as { model: string }, { endpoint: path, headers, leaseSeconds })
    .catch((error: unknown) => {
      throw routerErrorFrom(error, router.url);
    });
  const { id, receipt } = job;
  // It made no job of it: a refusal, or an answer to a request whose headers ask for one at once.
  if (id === null) return printAnswer(await job.response(), json, io);
  if (args["detach"] !== true) return attend(router, id, { json, onInterrupt: "cancel", receipt }, io);
  io.out(json ? JSON.stringify(receipt ?? (await job.refresh())) : id);
  io.say(`Its answer: sir jobs wait ${id}`);
  return EXIT.done;
}

function pathOf(given: unknown): string {
  const path = String(given).replace(/^\/?(v1\/)?/, "");
  return `/v1/${path}`;
}

/** @throws {UsageError} */
async function bodyOf(args: Args, io: Io): Promise<Readonly<Record<string, unknown>>> {
  const { body: file, model, maxTokens } = args;
  const named = typeof model === "string" ? { model } : {};
  const limited = maxTokens === undefined ? {} : { max_tokens: wholeNumber(maxTokens) };
  if (typeof file === "string") return { ...jsonFrom(file, io), ...named, ...limited };
  if (typeof model !== "string") throw new UsageError("sir submit needs a model: -m NAME. `sir models` lists them.");
  const prompt = await promptOf(args, io);
  const system = typeof args["system"] === "string" ? [{ role: "system", content: args["system"] }] : [];
  const path = pathOf(args["endpoint"]);
  if (path === "/v1/completions") return { model, prompt, ...limited };
  if (path === "/v1/embeddings" || path === "/v1/responses") return { model, input: prompt };
  return { model, messages: [...system, { role: "user", content: prompt }], ...limited };
}

async function promptOf(args: Args, io: Io): Promise<string> {
  const { prompt, file } = args;
  if (typeof file === "string") {
    if (prompt !== undefined) throw new UsageError("Give a prompt or --file, not both.");
    return readText(file, "file", io);
  }
  if (typeof prompt === "string" && prompt !== "-") return prompt;
  if (prompt === undefined && io.screen.input) {
    throw new UsageError('sir submit needs a prompt: sir submit -m MODEL "...", or - to read it from standard input.');
  }
  const text = await io.readInput();
  if (text.trim() === "") throw new UsageError("Standard input held no prompt.");
  return text;
}

function jsonFrom(file: string, io: Io): Readonly<Record<string, unknown>> {
  const text = readText(file, "body", io);
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch (error) {
    throw new UsageError(`--body ${file} is no JSON: ${error instanceof Error ? error.message : error}`);
  }
  throw new UsageError(`--body ${file} must hold a JSON object, as its endpoint takes it.`);
}

function readText(file: string, flag: string, io: Io): string {
  try {
    return readFileSync(resolve(io.cwd, file), "utf8");
  } catch (error) {
    throw new UsageError(`--${flag} ${file} cannot be read: ${error instanceof Error ? error.message : error}.`);
  }
}

function wholeNumber(given: unknown): number {
  const count = /^\d{1,7}$/.test(String(given)) ? Number(given) : 0;
  if (count > 0) return count;
  throw new UsageError("--max-tokens must be a whole number above zero.");
}

/** What the router reads of a request beside its body. */
function headersOf(args: Args): Record<string, string> {
  const { priority, deadline, header } = args;
  const given = (Array.isArray(header) ? header : header === undefined ? [] : [header]).map((line) => headerOf(line));
  return {
    ...(typeof priority === "string" ? { "sir-priority": checkedPriority(priority) } : {}),
    ...(typeof deadline === "string" ? { "cancel-after": `${spanSeconds(deadline, "deadline")}s` } : {}),
    ...Object.fromEntries(given),
  };
}

/** The router takes every word, as the header's contract has it; who types one wants to hear that it is none. */
function checkedPriority(word: string): string {
  return /^[+-]?\d+$/.test(word) ? word : choiceOf("priority", word, BANDS);
}

function headerOf(line: unknown): [string, string] {
  const [, name, value] = /^([A-Za-z0-9-]+)\s*:\s*(.*)$/.exec(String(line)) ?? [];
  if (name === undefined || value === undefined) throw new UsageError(`-H "${line}" is not NAME:VALUE.`);
  if (/^(authorization|x-api-key)$/i.test(name)) {
    throw new UsageError("A key on the command line can be read by others: use SIR_API_KEY or --key-file.");
  }
  return [name.toLowerCase(), value];
}
