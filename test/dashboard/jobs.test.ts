import { describe, expect, it } from "vitest";
import { filterWords, pageQuery, readFilters } from "../../dashboard/src/jobs/filters.ts";
import { around } from "../../dashboard/src/jobs/neighbours.ts";
import { appended, firstPage, grown, NO_ROWS, refreshed, touched } from "../../dashboard/src/jobs/rows.ts";
import { moved, spanInView } from "../../dashboard/src/jobs/window.ts";
import { CAUSE_TITLES } from "../../dashboard/src/parts/cause.ts";
import type { JobRow, JobRowList } from "../../src/client/wire-live.ts";
import { CAUSE_WORDS } from "../../src/explain/causes.ts";

function row(id: string, more: Partial<JobRow> = {}): JobRow {
  return {
    ...{ id, object: "job", status: "queued", endpoint: "/v1/chat/completions", model: "m", created_at: 1 },
    ...{ started_at: null, completed_at: null, expires_at: null, priority: 0, attempts: 0, interruptions: 0 },
    ...{ metadata: {}, trace_id: null, queue: null, lease: null, retry_after: null, response: null, error: null },
    urls: { self: "", result: "", events: "", cancel: "" },
    ...{ band: "normal", caller: "local", wait_ms: 1_000, run_ms: 0, cause: "held" },
    parts: [{ cause: "held", ms: 1_000 }],
    ...more,
  };
}

const page = (data: readonly JobRow[], hasMore = false): JobRowList => ({
  object: "list",
  data,
  first_id: data[0]?.id ?? null,
  last_id: data.at(-1)?.id ?? null,
  has_more: hasMore,
  scanned_to_ms: null,
});

describe("the rows of the jobs' list", () => {
  it("go on behind the last key, each once", () => {
    const first = firstPage(page([row("d"), row("c")], true), 5);

    const both = appended(first, page([row("c"), row("b")]), 6);

    expect(first.after).toBe("c");
    expect(both.list.map(({ id }) => id)).toEqual(["d", "c", "b"]);
    expect(both.after).toBeNull();
  });

  it("count what came since and leave everything in its place; what ended shows how", () => {
    const rows = firstPage(page([row("c"), row("b")]), 5);

    const again = refreshed(rows, page([row("e"), row("d"), row("c", { status: "completed" }), row("b")]), 9);

    expect(again.fresh).toBe(2);
    expect(again.list.map(({ id, status }) => [id, status])).toEqual([
      ["c", "completed"],
      ["b", "queued"],
    ]);
  });

  it("do not count older rows that a filtered page reaches down to", () => {
    const rows = firstPage(page([row("c"), row("b")], true), 5);

    expect(refreshed(rows, page([row("c"), row("a"), row("9")]), 9).fresh).toBe(0);
  });

  it("stay the same objects where nothing was said of them", () => {
    const over = row("b", { status: "completed" });
    const rows = firstPage(page([row("c"), over]), 5);

    const told = touched(rows, [
      { id: "c", status: "in_progress", model: "m", created_at: 1, started_at: 3, completed_at: null },
    ]);
    const reread = refreshed(told, page([row("c"), over]), 7);

    expect(touched(rows, [{ ...row("x"), started_at: 3 }])).toBe(rows);
    expect(told.list[0]).toMatchObject({ status: "in_progress", started_at: 3 });
    expect(told.list[1]).toBe(rows.list[1]);
    expect(reread.list[1]).toBe(rows.list[1]);
  });

  it("grow while they wait or run, in their last part, and not once they are over", () => {
    const [waiting, running, over] = firstPage(
      page([
        row("c"),
        row("b", { status: "in_progress", run_ms: 50, parts: [{ cause: "running", ms: 50 }] }),
        row("a", { status: "failed" }),
      ]),
      10_000,
    ).list;
    if (waiting === undefined || running === undefined || over === undefined) throw new Error("three rows");

    expect(grown(waiting, 12_000)).toMatchObject({ wait_ms: 3_000, parts: [{ cause: "held", ms: 3_000 }] });
    expect(grown(running, 12_000)).toMatchObject({ wait_ms: 1_000, run_ms: 2_050 });
    expect(grown(over, 12_000)).toBe(over);
    expect(grown(waiting, 9_000)).toBe(waiting);
    expect(grown({ ...waiting, readMs: 0 }, 12_000).wait_ms).toBe(1_000);
  });

  it("start as nothing", () => {
    expect(refreshed(NO_ROWS, page([row("a")]), 1)).toMatchObject({ list: [], fresh: 1 });
  });
});

describe("the filters of the jobs' list", () => {
  it("are the address, and what is asked of the router", () => {
    const filters = readFilters(new URLSearchParams("status=failed&cause=held&sort=wait&q=job_1&x=1"));

    expect(pageQuery(filters, 50, "job_9")).toMatchObject({
      ...{ view: "rows", status: "failed", cause: "held", q: "job_1", sort: "wait", limit: "50", after: "job_9" },
    });
    expect(filterWords(filters)).toBe("failed, mostly “GPU held by another model”, “job_1”");
  });

  it("call causes what the router calls them", () => {
    const words = Object.entries(CAUSE_WORDS).map(([cause, { title }]) => [cause, title]);

    expect(Object.fromEntries(words)).toEqual(CAUSE_TITLES);
  });
});

describe("the window of a long list", () => {
  it("draws what is in view and eight around, never beyond the ends", () => {
    expect(spanInView(100, 800, 1_000, 40)).toEqual({ from: 0, to: 26 });
    expect(spanInView(-20_000, 800, 1_000, 40)).toEqual({ from: 492, to: 528 });
    expect(spanInView(-90_000, 800, 1_000, 40)).toEqual({ from: 1_000, to: 1_000 });
  });

  it("moves its cursor by letters from everywhere, by arrows from inside", () => {
    expect(moved("j", -1, 5, false)).toBe(0);
    expect(moved("ArrowDown", -1, 5, false)).toBeNull();
    expect(moved("ArrowDown", 4, 5, true)).toBe(4);
    expect(moved("End", 1, 5, true)).toBe(4);
    expect(moved("k", 0, 5, true)).toBe(0);
    expect(moved("x", 0, 5, true)).toBeNull();
    expect(moved("j", 0, 0, true)).toBeNull();
  });

  it("knows a job's neighbours in the list it came from", () => {
    expect(around(["a", "b", "c"], "b")).toEqual({ before: "a", after: "c" });
    expect(around(["a", "b", "c"], "c")).toEqual({ before: "b", after: null });
    expect(around(["a"], "z")).toEqual({ before: null, after: null });
  });
});
