// Where a command looks for its router, and what it says when something else answers there.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { originAt, routerAddress } from "../../src/cli/address.ts";
import { answering, ENGINES } from "../discovery/fakes.ts";
import { terminal } from "./terminal.ts";

function folderWith(config: string | null): string {
  const folder = mkdtempSync(join(tmpdir(), "sir-address-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  if (config !== null) writeFileSync(join(folder, "sir.config.ts"), config);
  return folder;
}

const ON_8100 = 'import { defineConfig } from "sir-router"; export default defineConfig({ server: { port: 8100 } });';

describe("the router's address", () => {
  it.each([
    ["the default where nothing says otherwise", null, {}, {}, "http://127.0.0.1:8000"],
    ["the folder's configuration", ON_8100, {}, {}, "http://127.0.0.1:8100"],
    ["all addresses are reached at this machine's own", ON_8100, { SIR_HOST: "0.0.0.0" }, {}, "http://127.0.0.1:8100"],
    ["SIR_PORT before the file, as for serve", ON_8100, { SIR_PORT: "8200" }, {}, "http://127.0.0.1:8200"],
    ["SIR_URL before both", ON_8100, { SIR_PORT: "8200", SIR_URL: "http://box:9/v1" }, {}, "http://box:9"],
    ["--url before all", ON_8100, { SIR_URL: "http://box:9" }, { url: "http://here:7" }, "http://here:7"],
    ["any free port says nothing", "export default { server: { port: 0 } }", {}, {}, "http://127.0.0.1:8000"],
  ])("is %s", async (_, config, environment, args, url) => {
    const screen = terminal({ cwd: folderWith(config), environment });

    expect((await routerAddress(args, screen.io)).url).toBe(url);
    expect(screen.err()).toBe("");
  });

  it("says which file it is from when nobody answers there", async () => {
    const screen = terminal({ cwd: folderWith("export default { server: { port: 9 } }") });

    expect(await screen.run("status")).toBe(3);
    expect(screen.err()).toContain("http://127.0.0.1:9 (from sir.config.ts)");
  });

  it.each([
    ["export default { server: { port: 'x' } }", "server.port"],
    ["export default {", "Error"],
  ])("is the default where the file is broken, which is said: %s", async (config, words) => {
    const screen = terminal({ cwd: folderWith(config) });

    expect((await routerAddress({}, screen.io)).url).toBe("http://127.0.0.1:8000");
    expect(screen.err()).toContain("sir: asking http://127.0.0.1:8000");
    expect(screen.err()).toContain(words);
  });

  it("writes an IPv6 host in brackets", () => {
    expect([originAt("::1", 8_100), originAt("::", 8_100)]).toEqual(["http://[::1]:8100", "http://127.0.0.1:8100"]);
  });
});

describe("something else at the router's address", () => {
  const COMMANDS: [words: string[]][] = [
    [["status"]],
    [["jobs"]],
    [["jobs", "wait", "job_00000000000000000000000000000000"]],
    [["decisions"]],
    [["models"]],
    [["top"]],
    [["submit", "-m", "org/model", "a secret prompt"]],
    [["submit", "-m", "org/model", "--stream", "a secret prompt"]],
  ];

  it("is named, with what to do", async () => {
    const engine = await answering(ENGINES.vllm);
    const screen = terminal({ environment: { SIR_URL: engine.origin } });

    expect(await screen.run("status")).toBe(3);
    expect(screen.err()).toBe(`sir: ${engine.origin} is not SIR (it looks like vLLM). Set SIR_URL or --url.`);
  });

  it.each(COMMANDS)("is sent no prompt, and nothing of its answers is printed: %j", async (words) => {
    const engine = await answering(ENGINES.vllm);
    const screen = terminal({ environment: { SIR_URL: engine.origin } });

    expect(await screen.run(...words)).toBe(3);

    expect(screen.err()).toContain("is not SIR");
    expect(screen.out()).toBe("");
    expect(engine.asked.filter((each) => each.startsWith("POST /v1/"))).toEqual([]);
  });

  it("is called something else where nothing is known of it, as JSON too", async () => {
    const page = await answering({ "*": "<html>hello</html>" });
    const screen = terminal({ environment: { SIR_URL: page.origin } });

    expect(await screen.run("status", "--json")).toBe(3);

    const { error } = JSON.parse(screen.err()) as { error: { code: string; message: string } };
    expect(error.code).toBe("not_a_router");
    expect(error.message).toContain("something else answers there");
  });

  it("may be a proxy whose router is away", async () => {
    const proxy = await answering({ "*": 502 });
    const screen = terminal({ environment: { SIR_URL: proxy.origin } });

    expect(await screen.run("models")).toBe(3);
    expect(screen.err()).toContain("answered 502");
    expect(screen.err()).toContain("a proxy whose router is away");
  });

  it("is a router after all where only the header was taken away", async () => {
    const models = { object: "list", data: [{ id: "chat", object: "model", owned_by: "sir" }] };
    const proxy = await answering({ "/v1/models": models, "/v1/hints": { object: "list", data: [], has_more: false } });
    const screen = terminal({ environment: { SIR_URL: proxy.origin } });

    expect(await screen.run("hints", "--json")).toBe(0);
  });
});
