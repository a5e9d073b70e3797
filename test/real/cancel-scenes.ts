// A caller that no longer wants its answer: the slot is free, and what the engine makes of it.

import assert from "node:assert/strict";
import { ask, CHAT, open, receiptOf, submit } from "../e2e/wire.ts";
import { type Report, secondsText, timed, until } from "./report.ts";
import { answerOf, bodyOf, inProgress, type Subject } from "./scenes.ts";
import type { EngineFacts, Site } from "./site.ts";

/** Whether the engine still works for anybody, and by what that is known. */
export interface Busy {
  readonly by: string;
  look(engine: EngineFacts): Promise<boolean>;
}

/** A job that is cancelled by its receipt while the engine answers. */
export async function cancelJob(site: Site, report: Report, subject: Subject, busy: Busy): Promise<void> {
  const [model] = subject.models;
  await answerOf(site, bodyOf(model, subject.brief));
  const engine = site.engine(model);
  const { id } = await submit(site.origin, bodyOf(model, subject.long));
  await inProgress(site, id);
  await until(`the engine works (${busy.by})`, 30, async () => {
    if (await busy.look(engine)) return true;
    const { status, error } = await receiptOf(site.origin, id);
    if (status !== "in_progress") throw new Error(`the job is ${status} before it was seen to run: ${error?.message}`);
    return null;
  });
  const began = performance.now();
  const reply = await ask(site.origin, `/v1/jobs/${id}/cancel`, { method: "POST" });
  assert.equal(reply.status, 200, reply.text);
  assert.equal(reply.json<{ status: string }>().status, "cancelled");
  await settles(site, report, { subject, busy, engine, began, who: "a job cancelled by its receipt in mid-answer" });
}

/** A streaming caller whose socket closes after the first pieces. */
export async function hangUp(site: Site, report: Report, subject: Subject, busy: Busy): Promise<void> {
  const [model] = subject.models;
  await answerOf(site, bodyOf(model, subject.brief));
  const engine = site.engine(model);
  const stream = await open(site.origin, CHAT, { body: bodyOf(model, { ...subject.long, stream: true }) });
  await until("a first piece", 60, () => (stream.seen().includes("data: ") ? true : null));
  const began = performance.now();
  stream.socket.destroy();
  await settles(site, report, {
    subject,
    busy,
    engine,
    began,
    who: "a streaming caller that hung up after its first piece",
  });
}

interface Settling {
  readonly subject: Subject;
  readonly busy: Busy;
  readonly engine: EngineFacts;
  readonly began: number;
  readonly who: string;
}

async function settles(site: Site, report: Report, { subject, busy, engine, began, who }: Settling): Promise<void> {
  const [model] = subject.models;
  const since = (): string => secondsText((performance.now() - began) / 1000);
  await until("the slot is free", 30, async () => ((await site.model(model)).sir.running === 0 ? true : null));
  const slot = since();
  await until(`the engine rests (${busy.by})`, 120, async () => ((await busy.look(engine)) ? null : true));
  const rest = since();
  const next = await timed(() => answerOf(site, bodyOf(model, subject.brief)));
  assert.equal(site.engine(model).pid, engine.pid, "it is the same engine");
  report.shown(
    `${who}: slot free after ${slot}, engine at rest after ${rest} (${busy.by}), the next answer of the same engine in ${secondsText(next.seconds)}`,
  );
}
