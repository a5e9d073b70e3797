import { describe, expect, it } from "vitest";
import { filterWords, pageQuery, readFilters } from "../../dashboard/src/jobs/filters.ts";
import { counted, followed, mustBeRead, touched } from "../../dashboard/src/jobs/live-rows.ts";
import { around } from "../../dashboard/src/jobs/neighbours.ts";
import { appended, firstPage, grown, NO_ROWS, refreshed } from "../../dashboard/src/jobs/rows.ts";
import { moved, spanInView } from "../../dashboard/src/jobs/window.ts";
import { CAUSE_TITLES } from "../../dashboard/src/parts/cause.ts";
import type { JobRow, JobRowList, LiveJobWire } from "../../src/client/wire-live.ts";
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

const live = (id: string, more: Partial<LiveJobWire> = {}): LiveJobWire => ({
  ...{ id, status: "queued", model: "m", created_at: 1, started_at: null, completed_at: null },
  ...{ band: "normal", caller: "local", parts: null },
  ...more,
});

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

    expect([...again.fresh]).toEqual(["e", "d"]);
    expect(again.list.map(({ id, status }) => [id, status])).toEqual([
      ["c", "completed"],
      ["b", "queued"],
    ]);
  });

  it("do not count older rows that a filtered page reaches down to", () => {
    const rows = firstPage(page([row("c"), row("b")], true), 5);

    expect(refreshed(rows, page([row("c"), row("a"), row("9")]), 9).fresh.size).toBe(0);
  });

  it("stay the same objects where nothing was said of them", () => {
    const over = row("b", { status: "completed" });
    const rows = firstPage(page([row("c"), over]), 5);

    const told = touched(rows, [live("c", { status: "in_progress", started_at: 3 })], 6);
    const reread = refreshed(told, page([row("c"), over]), 7);

    expect(touched(rows, [live("x", { started_at: 3 })], 6)).toBe(rows);
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
    expect(refreshed(NO_ROWS, page([row("a")]), 1)).toMatchObject({ list: [], fresh: new Set(["a"]) });
  });
});

describe("what the stream says of the jobs' list", () => {
  const rows = firstPage(page([row("c"), row("b", { cause: "own_queue" })], true), 10_000);
  const filters = readFilters(new URLSearchParams());
  const none = new Map<string, string>();

  it("starts a job where its wait stands, and at its end is told as the list would tell it", () => {
    const started = touched(rows, [live("c", { status: "in_progress", started_at: 12 })], 12_000);
    const over = touched(
      started,
      [
        live("c", {
          status: "completed",
          started_at: 12,
          completed_at: 15,
          parts: [
            ["held", 900],
            ["loading", 2_050],
            ["running", 3_001],
          ],
        }),
      ],
      15_000,
    );

    expect(started.list[0]).toMatchObject({
      ...{ status: "in_progress", wait_ms: 3_000, run_ms: 0, readMs: 12_000 },
      parts: [
        { cause: "held", ms: 3_000 },
        { cause: "running", ms: 0 },
      ],
    });
    expect(grown(started.list[0] ?? (row("c") as never), 13_000)).toMatchObject({ wait_ms: 3_000, run_ms: 1_000 });
    expect(over.list[0]).toMatchObject({ status: "completed", wait_ms: 2_950, run_ms: 3_001, cause: "loading" });
    expect(over.list[0]?.parts.map(({ cause }) => cause)).toEqual(["held", "loading", "running"]);
    expect(over.list[1]).toBe(rows.list[1]);
  });

  it("lets what waits go on for another cause from the moment that its model's queue has one", () => {
    const loading = followed(rows, new Map([["m", "loading"]]), 11_000);
    const held = followed(loading, new Map([["m", "held"]]), 14_000);

    expect(loading.list[0]?.parts).toEqual([
      { cause: "held", ms: 2_000 },
      { cause: "loading", ms: 0 },
    ]);
    expect(grown(held.list[0] ?? (row("c") as never), 14_500).parts).toEqual([
      { cause: "loading", ms: 3_000 },
      { cause: "held", ms: 2_500 },
    ]);
    expect(followed(rows, new Map([["other", "loading"]]), 11_000)).toBe(rows);
  });

  it("has to be asked about only where an attempt was lost, or how the time went is not told", () => {
    const running = touched(rows, [live("c", { status: "in_progress", started_at: 12 })], 12_000);

    expect(mustBeRead(rows, [live("c", { status: "in_progress", started_at: 12 }), live("z")])).toBe(false);
    expect(mustBeRead(running, [live("c", { status: "completed", started_at: 12, parts: [["running", 1]] })])).toBe(
      false,
    );
    expect(mustBeRead(running, [live("c")])).toBe(true);
    expect(mustBeRead(running, [live("c", { status: "in_progress", started_at: 14 })])).toBe(true);
    expect(mustBeRead(running, [live("c", { status: "cancelled", started_at: 12 })])).toBe(true);
  });

  it("counts what is new among what is shown, once, and no longer when it does not match any more", () => {
    const waiting = { ...filters, status: "queued" };
    const one = counted(rows, [live("d"), live("a"), live("b")], waiting, none);
    const two = counted(one, [live("d"), live("e")], waiting, none);

    expect([...one.fresh]).toEqual(["d"]);
    expect([...two.fresh]).toEqual(["d", "e"]);
    expect([...counted(two, [live("d", { status: "in_progress" })], waiting, none).fresh]).toEqual(["e"]);
    expect(counted(two, [live("a")], waiting, none)).toBe(two);
    expect([...counted({ ...rows, after: null }, [live("a")], filters, none).fresh]).toEqual(["a"]);
  });

  it.each<[string, Partial<LiveJobWire>, boolean]>([
    ["band=batch", { band: "batch" }, true],
    ["band=batch", {}, false],
    ["model=m", {}, true],
    ["model=n", {}, false],
    ["caller=local", {}, true],
    ["caller=ann", {}, false],
    ["caller=ann", { caller: null }, true],
    ["q=job_d", {}, true],
    ["q=job_x", {}, false],
    ["q=request-1", {}, false],
    ["cause=held", {}, true],
    ["cause=loading", {}, false],
    [
      "cause=loading",
      {
        status: "completed",
        parts: [
          ["held", 1],
          ["loading", 2],
          ["running", 9],
        ],
      },
      true,
    ],
    ["cause=held", { status: "in_progress" }, false],
    ["sort=wait", { status: "completed", parts: [["held", 2_000]] }, true],
    ["sort=wait", { status: "completed", parts: [["held", 999]] }, false],
    ["sort=wait", {}, false],
  ])("%s counts only its own: %j", (query, more, counts) => {
    const asked = readFilters(new URLSearchParams(query));

    const { fresh } = counted(rows, [live("job_d", more)], asked, new Map([["m", "held"]]));

    expect(fresh.size).toBe(counts ? 1 : 0);
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
