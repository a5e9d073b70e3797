import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Router, startRouter } from "../../src/assemble.ts";
import { newLines } from "../../src/cli/models.ts";
import { resolveConfig } from "../../src/config/load.ts";
import { createLog } from "../../src/observe/log.ts";
import { terminal } from "./terminal.ts";

const folder = mkdtempSync(join(tmpdir(), "sir-models-"));
const backend = { driver: "mock", loadSeconds: 0.05, unloadSeconds: 0.01 };
let router: Router;

beforeAll(async () => {
  const document = {
    server: { port: 0 },
    store: { url: `sqlite:${folder}/sir.db` },
    models: { "org/chat": { aliases: ["chat"], loadSeconds: 0.05, backend }, code: { loadSeconds: 0.05, backend } },
  };
  const config = resolveConfig(document, { file: null, baseDir: folder, cwd: folder, overrides: [] });
  router = await startRouter(config, { log: createLog({ level: "silent" }) });
});
afterAll(async () => {
  await router.close();
  rmSync(folder, { recursive: true });
});

const stateOf = async (model: string): Promise<string | undefined> => {
  const { run, out } = terminal();
  await run("models", "--json", "--url", router.url);
  const { data } = JSON.parse(out()) as { data: { id: string; state: string }[] };
  return data.find(({ id }) => id === model)?.state;
};

describe("sir models", () => {
  it("loads, lists and unloads a model by its alias", async () => {
    const load = terminal();

    const code = await load.run("models", "load", "chat", "--url", router.url);

    expect([code, load.err()]).toEqual([0, ""]);
    expect(load.out()).toContain("org/chat");
    await expect.poll(() => stateOf("org/chat")).toBe("resident");
    await terminal().run("models", "unload", "chat", "--force", "--url", router.url);
    await expect.poll(() => stateOf("org/chat")).toBe("absent");
  });

  it("reads an engine's log", async () => {
    const { run, out } = terminal();

    const code = await run("models", "logs", "code", "--json", "--url", router.url);

    expect(code).toBe(0);
    expect(JSON.parse(out())).toMatchObject({ object: "logs", model: "code" });
  });

  it("says that a model is not there, with status 5", async () => {
    const { run, err } = terminal();

    const code = await run("models", "load", "chatt", "--url", router.url);

    expect(code).toBe(5);
    expect(err()).toContain("chatt");
  });

  it("says that no router answers, with status 3", async () => {
    const { run, err, out } = terminal();

    const code = await run("models", "--json", "--url", "http://127.0.0.1:9");

    expect([code, out()]).toEqual([3, ""]);
    expect(JSON.parse(err())).toMatchObject({ error: { code: "unreachable" } });
  });

  it("knows a misspelled verb, with status 2", async () => {
    const { run, err } = terminal();

    const code = await run("models", "laod", "chat");

    expect(code).toBe(2);
    expect(err()).toContain('Did you mean "load"?');
  });
});

describe("sir pause and sir resume", () => {
  it("stop the router's moves and let it go on", async () => {
    const { run, out } = terminal();

    expect(await run("pause", "--url", router.url)).toBe(0);
    expect(await run("resume", "--json", "--url", router.url)).toBe(0);

    expect(out()).toContain("The router is paused: nothing runs");
    expect(out()).toContain('"paused":false');
  });
});

describe("a log that is followed", () => {
  it.each([
    [["a", "b"], ["a", "b", "c"], ["c"]],
    [["a", "b", "c"], ["c", "d"], ["d"]],
    [["a"], ["x", "y"], ["x", "y"]],
    [[], ["a"], ["a"]],
    [["a", "a"], ["a", "a", "a"], ["a"]],
  ])("shows only what is new: %j, then %j", (before, now, fresh) => {
    expect(newLines(before, now)).toEqual(fresh);
  });
});
