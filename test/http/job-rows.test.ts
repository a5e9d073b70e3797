// The list of jobs as operators read it: filters, order, bounded pages, and where the time went in each row.

import { describe, expect, it } from "vitest";
import type { JobRow, JobRowList } from "../../src/client/wire-live.ts";
import {
  ANSWER,
  ASK,
  completed,
  type Given,
  get,
  given,
  MODEL,
  nextCall,
  passes,
  settled,
  submitted,
} from "./given.ts";

const list = async (world: Given, query = ""): Promise<JobRowList> =>
  (await (await settled(world, get(world, `/v1/jobs?view=rows${query}`))).json()) as JobRowList;
const idsOf = (page: JobRowList): string[] => page.data.map(({ id }) => id);
const sumOf = (row: JobRow): number => row.parts.reduce((sum, { ms }) => sum + ms, 0);

/** One done, one running, one that waits for the other model, one cancelled. */
async function four(world: Given) {
  const done = await completed(world);
  const { id: running } = await submitted(world, { "sir-lease": "none", "sir-priority": "interactive" });
  await nextCall(world);
  const { id: waiting } = await submitted(
    world,
    { "sir-lease": "none", "x-client-request-id": "mine-7" },
    { ...ASK, model: "beta" },
  );
  const { id: cancelled } = await submitted(world, { "sir-priority": "batch" }, { ...ASK, model: "beta" });
  await passes(world, 500);
  await settled(world, world.engine.cancel(cancelled as never, "client"));
  await passes(world, 4_000);
  return { done, running, waiting, cancelled };
}

describe("GET /v1/jobs?view=rows", () => {
  it("shows receipts with where their time went, whole to the millisecond", async () => {
    const world = await given();
    const ids = await four(world);

    const page = await list(world);

    expect(idsOf(page)).toEqual([ids.cancelled, ids.waiting, ids.running, ids.done]);
    for (const row of page.data) expect(sumOf(row)).toBe(row.wait_ms + row.run_ms);
    const [cancelled, waiting, running] = page.data;
    expect(waiting).toMatchObject({ status: "queued", cause: "held", band: "normal", caller: "local", run_ms: 0 });
    expect(waiting?.wait_ms).toBeGreaterThanOrEqual(4_000);
    expect(waiting?.queue?.position).toBe(0);
    expect(running).toMatchObject({ status: "in_progress", band: "interactive", model: MODEL });
    expect(running?.run_ms).toBeGreaterThanOrEqual(4_000);
    expect(cancelled).toMatchObject({ status: "cancelled", band: "batch", run_ms: 0 });
    expect(page).toMatchObject({ has_more: false, scanned_to_ms: null });
  });

  it.each([
    ["status=cancelled", ["cancelled"]],
    ["status=failed,cancelled,expired", ["cancelled"]],
    ["status=queued", ["waiting"]],
    ["status=queued,in_progress", ["waiting", "running"]],
    ["status=completed", ["done"]],
    ["model=beta", ["cancelled", "waiting"]],
    ["model=beta&status=cancelled", ["cancelled"]],
    ["band=interactive", ["running"]],
    ["band=normal", ["waiting", "done"]],
    ["band=batch&status=queued", []],
    ["cause=held", ["waiting", "cancelled"]],
    ["q=mine-7", ["waiting"]],
    ["q=mine-", []],
    ["caller=local", ["cancelled", "waiting", "running", "done"]],
    ["caller=nobody", []],
  ] as const)("filters by %s", async (query, names) => {
    const world = await given();
    const ids = await four(world);

    const page = await list(world, `&${query}`);

    expect(idsOf(page).sort()).toEqual(names.map((name) => ids[name]).sort());
  });

  it("finds a job by its id and by how it begins", async () => {
    const world = await given();
    const { done } = await four(world);

    expect(idsOf(await list(world, `&q=${done}`))).toEqual([done]);
    expect(idsOf(await list(world, `&q=${done.slice(0, -4)}`))).toContain(done);
    expect(idsOf(await list(world, "&q=job_0000"))).toEqual([]);
  });

  it("goes on by keys until all were shown once, in both orders", async () => {
    const world = await given();
    for (let i = 0; i < 12; i++)
      await submitted(world, { "sir-lease": "none" }, { ...ASK, model: i % 3 ? MODEL : "beta" });
    await passes(world, 1_000);

    for (const query of ["&limit=5", "&limit=5&sort=wait", "&limit=5&model=beta", "&limit=1&status=queued"]) {
      const seen: JobRow[] = [];
      for (let after: string | null = null, more = true; more; ) {
        const page: JobRowList = await list(world, `${query}${after === null ? "" : `&after=${after}`}`);
        seen.push(...page.data);
        after = page.last_id;
        more = page.has_more;
      }
      const whole = await list(world, query.replace(/limit=\d/, "limit=100"));
      expect(seen.map(({ id }) => id)).toEqual(idsOf(whole));
    }
  });

  it("sorts by wait, longest first, those from before the window that still wait among them", async () => {
    const world = await given();
    const { id: old } = await submitted(world, { "sir-lease": "none" }, { ...ASK, model: "beta" });
    const busy = await nextCall(world);
    const { id: held } = await submitted(world, { "sir-lease": "none" });
    await passes(world, 3 * 3_600_000);
    const quick = await submitted(world, { "sir-lease": "none" });
    await passes(world, 5_000);

    const page = await list(world, "&sort=wait");

    expect(idsOf(page)).toEqual([held, quick.id, old]);
    expect(page.data[0]?.wait_ms).toBeGreaterThan(3 * 3_600_000);
    busy.answer(ANSWER);
  });

  it("refuses what it does not know", async () => {
    const world = await given();

    for (const query of ["cause=weather", "band=first", "sort=size", "colour=red", "from_ms=yesterday"]) {
      const response = await settled(world, get(world, `/v1/jobs?view=rows&${query}`));
      expect(response.status, query).toBe(400);
    }
  });
});
