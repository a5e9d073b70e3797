import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Router, startRouter } from "../../src/assemble.ts";
import { resolveConfig } from "../../src/config/load.ts";
import { createLog } from "../../src/observe/log.ts";
import { terminal } from "./terminal.ts";

const folder = mkdtempSync(join(tmpdir(), "sir-hints-"));
const backend = { driver: "mock", loadSeconds: 0.05, unloadSeconds: 0.01 };
let router: Router;

const start = () => {
  const document = {
    server: { port: 0 },
    store: { url: `sqlite:${folder}/sir.db` },
    models: { "org/coder": { aliases: ["coder"], loadSeconds: 0.05, backend } },
  };
  const config = resolveConfig(document, { file: null, baseDir: folder, cwd: folder, overrides: [] });
  return startRouter(config, { log: createLog({ level: "silent" }) });
};

beforeAll(async () => {
  router = await start();
});
afterAll(async () => {
  await router.close();
  rmSync(folder, { recursive: true });
});

const sir = async (...argv: string[]) => {
  const { run, out, err } = terminal();
  const code = await run("hints", ...argv, "--url", router.url);
  return { code, out: out(), err: err() };
};

it("adds, lists and removes a hint; it is there again after a restart", async () => {
  const added = await sir("add", "coder", "--in", "1h30m", "--jobs", "200", "--priority", "batch", "--json");
  const hint = JSON.parse(added.out) as { id: string; at: number };
  expect([added.code, added.err]).toEqual([0, ""]);
  expect(hint).toMatchObject({ object: "hint", model: "org/coder", state: "waiting", jobs: 200, priority: -100 });
  expect(hint.at).toBeCloseTo(Date.now() / 1_000 + 5_400, -1);

  await router.close();
  router = await start();

  const listed = await sir();
  expect(listed.out.split("\n")).toHaveLength(2);
  expect(listed.out).toContain(`${hint.id}\torg/coder\twaiting\t`);
  expect(await sir("remove", hint.id)).toMatchObject({ code: 0, out: `removed ${hint.id}` });
  expect((await sir("list", "--json")).out).toContain('"data":[]');
});

it("says in the router's words what is wrong with a hint, and nothing on standard output", async () => {
  const wrong = await sir("add", "coder", "--at", "soon", "--json");

  expect([wrong.code, wrong.out]).toEqual([1, ""]);
  expect(JSON.parse(wrong.err)).toMatchObject({ error: { code: "invalid_body", param: "at" } });
  expect(await sir("remove", "hint_0")).toMatchObject({ code: 5, out: "" });
  expect(await sir("ad", "coder")).toMatchObject({
    code: 2,
    err: 'sir: sir hints does not know "ad". Did you mean "add"?',
  });
});
