// The caller's own jobs, newest first, in pages. Listing is no sign of life: it renews no lease.

import { isFinal, type Job } from "../domain/job.ts";
import type { Result } from "../store/store.ts";
import { callerOf } from "./caller.ts";
import type { Call, HttpWorld } from "./deps.ts";
import { canonical, readStatuses } from "./job-filters.ts";
import { listJobRows } from "./job-rows.ts";
import { onlyKnown, readChoice, readJobId, readLimit, readMetadata } from "./query.ts";
import { answerOf, receiptBytes, receiptFacts } from "./receipt.ts";
import { VARY } from "./stored-answer.ts";

const KNOWN = ["view", "status", "model", "after", "limit", "order", "metadata[...]", "include"];
/** With `include=response`: answers beyond this are left out of the page, to be read one by one. */
const PAGE_BYTES = 16 * 1024 * 1024;

export async function listJobs(c: Call, world: HttpWorld): Promise<Response> {
  if (readChoice(c, "view", ["receipts", "rows"], "receipts") === "rows") return listJobRows(c, world);
  onlyKnown(c, KNOWN);
  const status = readStatuses(c);
  const model = c.req.query("model");
  const after = readJobId(c, "after");
  const withAnswers = readChoice(c, "include", ["response", ""], "") === "response";
  const page = await world.store.jobs({
    caller: callerOf(c),
    ...(status === null ? {} : { status }),
    ...(model === undefined ? {} : { model: canonical(world, model) }),
    ...(after === undefined ? {} : { after }),
    metadata: readMetadata(c),
    order: readChoice(c, "order", ["desc", "asc"], "desc") === "desc" ? "newest" : "oldest",
    limit: readLimit(c),
  });
  const data = await receipts(world, page.data, withAnswers);
  return new Response(listBytes(page.data, data, page.hasMore) as Uint8Array<ArrayBuffer>, {
    headers: { "content-type": "application/json", "cache-control": "no-store", vary: VARY },
  });
}

async function receipts(world: HttpWorld, jobs: readonly Job[], withAnswers: boolean): Promise<Uint8Array[]> {
  const list: Uint8Array[] = [];
  let leftBytes = PAGE_BYTES;
  for (const job of jobs) {
    const facts = await receiptFacts(world, job);
    const wanted = withAnswers && leftBytes > 0 && job.durable && isFinal(job.state.status);
    const result: Result | null = wanted ? await world.store.result(job.id) : null;
    leftBytes -= result?.body.length ?? 0;
    list.push(receiptBytes(facts, answerOf(leftBytes < 0 ? null : result)));
  }
  return list;
}

function listBytes(jobs: readonly Job[], data: readonly Uint8Array[], hasMore: boolean): Uint8Array {
  const comma = Buffer.from(",");
  const items = data.flatMap((bytes, index) => (index === 0 ? [bytes] : [comma, bytes]));
  const ends = { first_id: jobs[0]?.id ?? null, last_id: jobs.at(-1)?.id ?? null, has_more: hasMore };
  return Buffer.concat([
    Buffer.from('{"object":"list","data":['),
    ...items,
    Buffer.from(`],${JSON.stringify(ends).slice(1)}`),
  ]);
}
