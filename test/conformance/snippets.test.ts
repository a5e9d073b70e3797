// What docs/how-to/call-it-from.md tells people to write, run as it stands there; only the address is another.

import { execFile } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, inject, it, vi } from "vitest";
import { type RouterProcess, serve, tempFolder } from "../e2e/process.ts";
import { type PlainServer, startPlainServer } from "./engine.ts";

vi.setConfig({ testTimeout: 180_000 });

const runs = promisify(execFile);
const folder = fileURLToPath(new URL("./clients/", import.meta.url));
const page = readFileSync(new URL("../../docs/how-to/call-it-from.md", import.meta.url), "utf8");
const snippets = [...page.matchAll(/```(js|python)\n([\s\S]*?)```/g)].map(([, language = "", code = ""], index) => ({
  language,
  code,
  title: `${language} ${index + 1}`,
}));

const installed = inject("installed");
let engine: PlainServer;
let router: RouterProcess;

beforeAll(async () => {
  engine = await startPlainServer();
  const backend = { driver: "remote", baseUrl: `${engine.origin}/v1` };
  router = await serve({ config: { models: { chat: { backend } } }, folder: tempFolder() });
});

afterAll(() => engine.close());

describe("the page on clients", () => {
  it("has snippets in both languages", () => {
    expect(new Set(snippets.map(({ language }) => language))).toEqual(new Set(["js", "python"]));
  });

  it.each(snippets)("runs: $title", async ({ language, code, title }) => {
    const interpreter = language === "js" ? installed.node24 : installed.pythons["openai2"];
    if (interpreter === undefined) return;
    // Beside the clients, so that it finds their packages.
    const file = `${folder}snippet-${title.replace(" ", "-")}.${language === "js" ? "mjs" : "py"}`;
    writeFileSync(file, code.replaceAll("http://127.0.0.1:8000", router.origin));
    try {
      const { stdout } = await runs(interpreter, [file], { cwd: folder, timeout: 120_000 });

      expect(stdout).toContain("echo none");
    } finally {
      rmSync(file);
    }
  });
});
