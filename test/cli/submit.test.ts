// `sir submit` in a real pseudo-terminal: the line that says where the job stands, and the ways to leave it.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RouterProcess, serve, tempFolder } from "../e2e/process.ts";
import { inTerminal, piped, type Session } from "./pseudo-terminal.ts";

const SIZE = { columns: 120, rows: 24 };
const backend = { driver: "mock", loadSeconds: 2, unloadSeconds: 0.1, firstTokenSeconds: 600 };
const quick = { ...backend, firstTokenSeconds: 0.3, tokensPerSecond: 200 };

let router: RouterProcess;
const environment = (): Record<string, string> => ({ SIR_URL: router.origin });

beforeAll(async () => {
  const models = {
    slow: { loadSeconds: 2, concurrency: 1, memoryGiB: 20, backend },
    quick: { loadSeconds: 2, memoryGiB: 20, backend: quick },
    // Asked for by one test alone: that it loads is what is seen, and for long enough on a busy machine.
    cold: { loadSeconds: 5, memoryGiB: 20, backend: { ...quick, loadSeconds: 5 } },
  };
  router = await serve({ folder: tempFolder(), config: { models, devices: { gpu0: { memoryGiB: 80 } } } });
});
afterAll(async () => {
  await router.kill();
});

async function running(...more: string[]): Promise<{ session: Session; id: string }> {
  const before = await ids();
  const session = inTerminal(["submit", "-m", "slow", ...more, "hello"], SIZE, environment());
  await session.until(/running|of \d|number/);
  const id = (await ids()).find((each) => !before.includes(each)) ?? "";
  return { session, id };
}

async function ids(): Promise<string[]> {
  const { out } = await piped(["jobs", "--json"], environment());
  return (JSON.parse(out) as { data: { id: string }[] }).data.map((job) => job.id);
}

async function statusOf(id: string): Promise<string> {
  const { out } = await piped(["jobs", "show", id, "--json"], environment());
  return (JSON.parse(out) as { status: string }).status;
}

describe("sir submit", () => {
  it("says what loads and how far it is, then only the answer is left", async () => {
    const session = inTerminal(["submit", "-m", "cold", "hello"], SIZE, environment());

    await session.until(/loading cold [\d.]+s of about 5s/);
    await session.until(/running/);
    const { code, out } = await session.ended;

    expect(code).toBe(0);
    expect(out.split("\u001b[K").at(-1)).toMatch(/^\[cold\]/);
    expect(out).toContain("Ctrl-C cancels, Ctrl-\\ leaves it");
  });

  it("cancels on Ctrl-C, and says so", async () => {
    const { session, id } = await running();

    session.type("\u0003");
    const { code, out } = await session.ended;

    expect(code).toBe(130);
    expect(out).toContain(`Cancelled ${id}.`);
    expect(await statusOf(id)).toBe("cancelled");
  });

  it("leaves the job running on Ctrl-\\, and says how to come back", async () => {
    const { session, id } = await running();

    session.type("\u001c");
    const { code, out } = await session.ended;

    expect(code).toBe(130);
    expect(out).toContain(`sir jobs wait ${id}`);
    expect(["queued", "in_progress"]).toContain(await statusOf(id));
    await piped(["jobs", "cancel", id], environment());
  });

  it("cancels when its terminal is closed", async () => {
    const { session, id } = await running();

    session.signal("SIGHUP");
    await session.ended;

    expect(await statusOf(id)).toBe("cancelled");
  });

  it("says a line at each change off a terminal, without anything that moves a cursor", async () => {
    const { code, out, err } = await piped(["submit", "-m", "quick", "hello"], environment());

    expect(code).toBe(0);
    expect(`${out}${err}`).not.toContain("\u001b");
    expect(err.trim().split("\n").at(-1)).toMatch(/^waited .+ · job_[0-9a-f]{32} · sir explain job_/);
  });

  it("streams the words as they come", async () => {
    const { code, out } = await piped(["submit", "-m", "quick", "--stream", "hello"], environment());

    expect(code).toBe(0);
    expect(out).toMatch(/^\[quick\] .+\n$/);
  });

  it("goes on through a router that is killed and comes back", async () => {
    const folder = tempFolder();
    const config = { models: { quick: { loadSeconds: 2, backend: { ...quick, firstTokenSeconds: 3 } } } };
    const first = await serve({ folder, config });
    const port = new URL(first.origin).port;
    const session = inTerminal(["submit", "-m", "quick", "hello"], SIZE, { SIR_URL: first.origin });
    await session.until(/loading|running/);

    await first.kill();
    const second = await serve({ folder, config, port: Number(port) });
    const { code, out } = await session.ended;

    expect(code).toBe(0);
    expect(out).toContain("[quick]");
    await second.kill();
  });
});
