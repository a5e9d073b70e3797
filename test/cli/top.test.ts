// `sir top` in a real pseudo-terminal against the built router: what it draws, what keys do, and that the terminal is
// given back whatever it ends of.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RouterProcess, serve, tempFolder } from "../e2e/process.ts";
import { inTerminal, piped, type Session } from "./pseudo-terminal.ts";

const SIZE = { columns: 80, rows: 24 };
const ENTERED = "\u001b[?1049h\u001b[?25l\u001b[?7l";
const GIVEN_BACK = "\u001b[?7h\u001b[?25h\u001b[?1049l";
const backend = { driver: "mock", loadSeconds: 0.2, unloadSeconds: 0.1, firstTokenSeconds: 30 };

let router: RouterProcess;
const environment = (): Record<string, string> => ({ SIR_URL: router.origin });

beforeAll(async () => {
  const models = { chat: { loadSeconds: 1, concurrency: 1, backend }, code: { loadSeconds: 1, backend } };
  router = await serve({ folder: tempFolder(), config: { models, devices: { gpu0: { memoryGiB: 80 } } } });
});
afterAll(async () => {
  await router.kill();
});

async function watching(given: Record<string, string> = {}): Promise<Session> {
  const session = inTerminal(["top"], SIZE, { ...environment(), ...given });
  await session.until(/gpu0/);
  return session;
}

/** The screen that was there before, the cursor and wrapping are back, and nothing is drawn after that. */
function expectGivenBack(shown: string): void {
  expect(shown).toContain(ENTERED);
  expect(shown).toContain(GIVEN_BACK);
  expect(shown.slice(shown.lastIndexOf(GIVEN_BACK))).not.toContain("\u001b[H");
}

describe("sir top", () => {
  it("gives the terminal back when it is quit", async () => {
    const session = await watching();

    session.type("q");
    const { code, out } = await session.ended;

    expect(code).toBe(0);
    expectGivenBack(out);
  });

  it.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)("gives the terminal back after %s", async (name) => {
    const session = await watching();

    session.signal(name);
    const { code, out } = await session.ended;

    expect(code).toBe(130);
    expectGivenBack(out);
  });

  it("gives the terminal back after Ctrl-C at the keyboard", async () => {
    const session = await watching();

    session.type("\u0003");
    const { out } = await session.ended;

    expectGivenBack(out);
  });

  it("gives the terminal back after a crash, and shows the trace on it", async () => {
    const crash = 'setTimeout(() => { throw new Error("planted crash"); }, 4000)';
    const session = await watching({ NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(crash)}` });

    const { code, out } = await session.ended;

    expect(code).not.toBe(0);
    expectGivenBack(out);
    expect(out.slice(out.lastIndexOf(GIVEN_BACK))).toContain("planted crash");
  });

  it("goes on, and says that it is not live, when the router goes away", async () => {
    const own = await serve({ folder: tempFolder(), config: { models: { chat: { loadSeconds: 1, backend } } } });
    const session = inTerminal(["top"], SIZE, { SIR_URL: own.origin });
    await session.until(/model-score/);

    await own.kill();
    await session.until(/not live/);
    session.type("q");
    const { code, out } = await session.ended;

    expect(code).toBe(0);
    expectGivenBack(out);
  });

  it("cancels the selected job after a question, and shows why", async () => {
    const sent = await piped(["submit", "-m", "chat", "--detach", "-q", "hello"], environment());
    const session = await watching();
    await session.until(new RegExp(`job_…${sent.out.trim().slice(-8)}`));

    session.type("jjjjj");
    session.type("x");
    await session.until(/Cancel job_[0-9a-f]{32}\? y or n/);
    session.type("y");
    await session.until(/job_[0-9a-f]{32}: (cancelled|in_progress)\./);
    session.type("q");
    await session.ended;

    const { out } = await piped(["jobs", "wait", sent.out.trim(), "-q"], environment());
    expect(out).toBe("");
  });

  it("draws ASCII alone where the locale is not UTF-8", async () => {
    await piped(["submit", "-m", "code", "--detach", "-q", "hello"], environment());
    const session = await watching({ LANG: "C", LC_ALL: "C" });

    session.type("q");
    const { out } = await session.ended;

    expect(out).toContain("# serving");
    expect([...out].filter((sign) => sign > "~")).toEqual([]);
  });

  it("prints once where the terminal cannot be drawn on, and off a terminal", async () => {
    const dumb = await inTerminal(["top"], SIZE, { ...environment(), TERM: "dumb" }).ended;
    const off = await piped(["top"], environment());
    const json = await piped(["top", "--once", "--json"], environment());

    expect([dumb.code, off.code, json.code]).toEqual([0, 0, 0]);
    expect(`${dumb.out}${off.out}`).not.toContain("\u001b[");
    expect(dumb.out).toContain("gpu0");
    expect(JSON.parse(json.out)).toMatchObject({ object: "status" });
  });

  it("draws at most four times a second, each frame at once", async () => {
    const session = await watching();
    const before = session.shown().length;

    session.type("j".repeat(200));
    session.type("q");
    const { out } = await session.ended;

    const frames = out.slice(before).split("\u001b[?2026h").length - 1;
    expect(frames).toBeLessThan(20);
    expect(out.split("\u001b[?2026h").length).toBe(out.split("\u001b[?2026l").length);
  });
});
