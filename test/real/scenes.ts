// What is asked of every real engine behind a router: answers, streams, schemas through swaps, jobs, a cancel, a kill.

import assert from "node:assert/strict";
import { ask, CHAT, open, receiptOf, submit } from "../e2e/wire.ts";
import { isRunning, processesOf } from "./processes.ts";
import { type Report, secondsText, timed, until } from "./report.ts";
import type { Site } from "./site.ts";

/** Of the engine at hand: two models, and how it is asked for a JSON schema. */
export interface Subject {
  readonly models: readonly [string, string];
  responseFormat(schema: object): object;
  /** Beside the prompt, for answers that end soon and are the same every time. */
  readonly brief: object;
  /** Beside the prompt, for an answer that takes many seconds. */
  readonly long: object;
}

interface Completion {
  readonly id: string;
  readonly choices: readonly { readonly message: { readonly content: string }; readonly finish_reason: string }[];
}

interface Chunk {
  readonly id: string;
  readonly choices: readonly { readonly delta: { readonly content?: string | null } }[];
}

const SCHEMA = {
  type: "object",
  properties: { colour: { type: "string", enum: ["red", "green", "blue"] }, bright: { type: "boolean" } },
  required: ["colour", "bright"],
  additionalProperties: false,
};

export function bodyOf(model: string, over: object, words = "Name one colour of the rainbow."): string {
  return JSON.stringify({ model, messages: [{ role: "user", content: words }], temperature: 0, ...over });
}

export async function answerOf(site: Site, body: string): Promise<string> {
  const reply = await ask(site.origin, CHAT, { body });
  assert.equal(reply.status, 200, reply.text.slice(0, 300));
  const [choice] = reply.json<Completion>().choices;
  return choice?.message.content ?? "";
}

/** A plain answer, then the same one streamed. */
export async function answersAndStreams(
  site: Site,
  report: Report,
  { models: [model], brief }: Subject,
): Promise<void> {
  const first = await timed(() => answerOf(site, bodyOf(model, brief)));
  assert.notEqual(first.value.trim(), "");
  report.shown(
    `first answer of \`${model}\`, load included, after ${secondsText(first.seconds)}: ${quoted(first.value)}`,
  );
  const again = await timed(() => answerOf(site, bodyOf(model, brief)));
  report.shown(`the next one, from the resident engine, after ${secondsText(again.seconds)}`);

  const began = performance.now();
  const stream = await open(site.origin, CHAT, { body: bodyOf(model, { ...brief, stream: true }) });
  await until("a first piece of the stream", 60, () => (stream.seen().includes("data: ") ? true : null));
  const firstPiece = (performance.now() - began) / 1000;
  const text = (await stream.rest()).toString();
  const whole = (performance.now() - began) / 1000;
  const data = text.split(/\r?\n/).flatMap((line) => (line.startsWith("data: ") ? [line.slice(6)] : []));
  assert.equal(data.at(-1), "[DONE]");
  const chunks = data.slice(0, -1).map((each) => JSON.parse(each) as Chunk);
  assert.equal(new Set(chunks.map(({ id }) => id)).size, 1, "one stream has one id");
  const joined = chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("");
  assert.equal(joined, again.value, "the streamed pieces, joined in their order, are the plain answer");
  report.shown(
    `streamed: ${chunks.length} pieces in order, joined equal to the plain answer, \`[DONE]\` at the end; ` +
      `first piece after ${secondsText(firstPiece)}, all after ${secondsText(whole)}`,
  );
}

/** First model, then the second with a schema, then the first again: two swaps. */
export async function schemaThroughSwap(site: Site, report: Report, subject: Subject): Promise<void> {
  const [a, b] = subject.models;
  const swapsBefore = await site.swaps();
  const format = { response_format: subject.responseFormat(SCHEMA) };
  const words = "Answer as JSON with a colour and whether it is bright.";
  const there = await timed(() => answerOf(site, bodyOf(b, { max_tokens: 60, ...format }, words)));
  const answer = JSON.parse(there.value) as Record<string, unknown>;
  assert.deepEqual(Object.keys(answer).sort(), ["bright", "colour"]);
  assert.ok(["red", "green", "blue"].includes(String(answer["colour"])) && typeof answer["bright"] === "boolean");
  const back = await timed(() => answerOf(site, bodyOf(a, subject.brief)));
  assert.notEqual(back.value.trim(), "");
  const swaps = (await site.swaps()) - swapsBefore;
  assert.equal(swaps, 2);
  report.shown(
    `\`response_format\` with a JSON schema to \`${b}\` through a swap (${secondsText(there.seconds)}): ` +
      `${quoted(there.value)}; \`${a}\` again through the next swap (${secondsText(back.seconds)}); ` +
      `\`sir_swaps_total\` rose by ${swaps}`,
  );
}

export async function learnedLoads(site: Site, report: Report, { models }: Subject, guess: number): Promise<void> {
  for (const name of models) {
    const loads = site.loads(name);
    const { load_seconds: learned } = (await site.model(name)).sir;
    assert.ok(loads.length > 0);
    assert.notEqual(learned, guess, "a measured load replaces the guess");
    const measured = loads.map(secondsText).join(", ");
    report.shown(`loads of \`${name}\` took ${measured}; learned: ${secondsText(learned)} (the guess was ${guess} s)`);
  }
}

/** Six receipts that alternate between the models, polled to their end. */
export async function receiptsToTheEnd(site: Site, report: Report, { models: [a, b], brief }: Subject): Promise<void> {
  const swapsBefore = await site.swaps();
  const all = await timed(async () => {
    const ids: string[] = [];
    for (const model of [a, b, a, b, a, b]) ids.push((await submit(site.origin, bodyOf(model, brief))).id);
    return Promise.all(ids.map((id) => until(`${id} ended`, 600, () => ended(site, id))));
  });
  for (const { status, response } of all.value) {
    assert.equal(status, "completed");
    assert.ok(response !== null);
    const [choice] = (response.body as Completion).choices;
    assert.notEqual(choice?.message.content.trim(), "");
  }
  const swaps = (await site.swaps()) - swapsBefore;
  report.shown(
    `six \`respond-async\` jobs, a b a b a b, polled to \`completed\` in ${secondsText(all.seconds)} with ${swaps} swaps`,
  );
}

export async function ended(site: Site, id: string) {
  const receipt = await receiptOf(site.origin, id, 20);
  return receipt.completed_at === null ? null : receipt;
}

export async function inProgress(site: Site, id: string): Promise<void> {
  await until(`${id} runs`, 300, async () =>
    (await receiptOf(site.origin, id)).status === "in_progress" ? true : null,
  );
}

/** Ends one process of a working engine with SIGKILL; the job is answered all the same. */
export async function killInside(site: Site, report: Report, subject: Subject, victim: Victim): Promise<void> {
  const [model] = subject.models;
  const { id } = await submit(site.origin, bodyOf(model, subject.long));
  await inProgress(site, id);
  const engine = site.engine(model);
  const whole = processesOf(engine.pid);
  const pid = victim.pick(engine.pid);
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const lostBefore = site.events.filter(({ type }) => type === "instance.lost").length;
  process.kill(pid, "SIGKILL");
  const lost = await timed(() =>
    until(
      "the loss was told",
      60,
      () => site.events.filter(({ type }) => type === "instance.lost")[lostBefore] ?? null,
    ),
  );
  const cleared = await timed(() => until("its processes are gone", 60, () => (whole.some(isRunning) ? null : true)));
  const again = await timed(() => until(`${id} ended`, 600, () => ended(site, id)));
  const { status, attempts, interruptions } = again.value;
  assert.equal(status, "completed");
  assert.ok(site.engine(model).pid !== engine.pid);
  const detail = lost.value.type === "instance.lost" ? lost.value.detail : "";
  report.shown(
    `kill -9 of ${victim.name} in mid-answer: told after ${secondsText(lost.seconds)} (${quoted(detail)}), all ` +
      `${whole.length} of its processes gone ${secondsText(cleared.seconds)} later, the job answered by a new engine ` +
      `${secondsText(again.seconds)} after that (\`attempts\` ${attempts}, \`interruptions\` ${interruptions})`,
  );
}

export interface Victim {
  readonly name: string;
  pick(leader: number): number;
}

export function quoted(text: string): string {
  const short = text.length > 120 ? `${text.slice(0, 120)}…` : text;
  return `\`${short.replaceAll("`", "'").replaceAll("\n", "⏎")}\``;
}
