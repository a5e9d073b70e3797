// Where `sir init` writes: never over what somebody wrote.

import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { settle } from "../../src/cli/init-run.ts";
import { machineWith } from "../discovery/fakes.ts";
import { tempFolder } from "./generated.ts";
import { terminal } from "./terminal.ts";

describe("what was there before", () => {
  it("is not written over: a new file stands beside it, and the difference is said in words", async () => {
    const cwd = tempFolder();
    const mine = 'export default { server: { port: 9000 }, models: { mine: { backend: { driver: "mock" } } } };\n';
    writeFileSync(join(cwd, "sir.config.ts"), mine);
    const { io, out } = terminal({ cwd });

    await settle(await machineWith(["vllm"]), { yes: true }, io);

    expect(readFileSync(join(cwd, "sir.config.ts"), "utf8")).toBe(mine);
    expect(existsSync(join(cwd, "sir.config.new.ts"))).toBe(true);
    expect(out()).toContain("has besides: openai/gpt-oss-20b");
    expect(out()).toContain("does not have: mine");
    expect(out()).toMatch(/server\.port is 8\d00, there 9000/);
    expect(out()).toContain("sir serve --config sir.config.new.ts");
  });

  it("is not written over when it cannot be read either", async () => {
    const cwd = tempFolder();
    writeFileSync(join(cwd, "sir.config.json"), "{ not json");
    const { io, out } = terminal({ cwd });

    await settle(await machineWith(["vllm"]), { yes: true }, io);

    expect(readdirSync(cwd).sort()).toEqual(["sir.config.json", "sir.config.new.ts"]);
    expect(out()).toContain("sir.config.json cannot be read: sir doctor says why");
  });

  it("is written over with --force", async () => {
    const cwd = tempFolder();
    writeFileSync(join(cwd, "sir.config.ts"), "// mine\n");

    await settle(await machineWith(["vllm"]), { yes: true, force: true }, terminal({ cwd }).io);

    expect(readdirSync(cwd)).toEqual(["sir.config.ts"]);
    expect(readFileSync(join(cwd, "sir.config.ts"), "utf8")).toContain("gpt-oss-20b");
  });

  it("is set aside when it is the example that is shipped", async () => {
    const cwd = tempFolder();
    const example = readFileSync(new URL("../../sir.config.ts", import.meta.url), "utf8");
    writeFileSync(join(cwd, "sir.config.ts"), example);
    const { io, out } = terminal({ cwd });

    await settle(await machineWith(["vllm"]), { yes: true }, io);

    expect(readFileSync(join(cwd, "sir.config.example.ts"), "utf8")).toBe(example);
    expect(readFileSync(join(cwd, "sir.config.ts"), "utf8")).toContain("gpt-oss-20b");
    expect(out()).toContain("The shipped example was moved to sir.config.example.ts.");
  });
});
