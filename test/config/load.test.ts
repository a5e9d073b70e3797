// Finding the file, reading it in every spelling, laying environment and flags over it, and saying where values came from.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type LoadOptions, loadConfig } from "../../src/config/load.ts";
import { ConfigError } from "../../src/config/problem.ts";
import { resolve } from "./given.ts";

let dir = "";
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "sir-config-"));
});
afterEach(() => rmSync(dir, { recursive: true }));

const model = '{ "loadSeconds": 2, "backend": { "driver": "mock" } }';
const write = (name: string, text: string): string => {
  const file = join(dir, name);
  writeFileSync(file, text);
  return file;
};
const load = (options: Partial<LoadOptions> = {}) => loadConfig({ cwd: dir, environment: {}, ...options });

describe("the configuration file", () => {
  it.each([
    ["sir.config.ts", `import { defineConfig } from "sir-router";\nconst port: number = 81;\n`],
    ["sir.config.js", `import { defineConfig } from "sir-router";\nconst port = 81;\n`],
    ["sir.config.mjs", `import { defineConfig } from "sir-router";\nconst port = 81;\n`],
  ])("%s may import sir-router wherever it lies", async (name, head) => {
    write(name, `${head}export default defineConfig({ server: { port }, models: { chat: ${model} } });\n`);

    const config = await load();

    expect(config.server.port).toBe(81);
    expect(config.file).toBe(join(dir, name));
  });

  it("may be JSON", async () => {
    write("sir.config.json", `{ "server": { "port": 82 }, "models": { "chat": ${model} } }`);

    expect((await load()).server.port).toBe(82);
  });

  it("is read afresh each time, so that a reload sees the change", async () => {
    const text = (port: number): string => `export default { server: { port: ${port} }, models: { chat: ${model} } };`;
    write("sir.config.ts", text(1111));
    await load();
    write("sir.config.ts", text(2222));

    expect((await load()).server.port).toBe(2222);
  });

  it("is the one that the package ships when there is none, with its data in the working directory", async () => {
    const config = await load();

    expect(config.engine.models).toHaveLength(2);
    expect(config.warnings).toEqual([]);
    expect(config.unused).toEqual([]);
    expect(config.store.dataDir).toBe(join(dir, "data"));
  });

  it("is named by the flag before SIR_CONFIG", async () => {
    const flagged = write("a.json", `{ "server": { "port": 1 }, "models": { "chat": ${model} } }`);
    const named = write("b.json", `{ "server": { "port": 2 }, "models": { "chat": ${model} } }`);

    const both = await load({ environment: { SIR_CONFIG: named }, flags: { config: flagged } });
    const variable = await load({ environment: { SIR_CONFIG: "b.json" } });

    expect([both.server.port, variable.server.port]).toEqual([1, 2]);
  });

  it("that is named and missing is an error, never a silent default", async () => {
    await expect(load({ flags: { config: "nowhere.ts" } })).rejects.toThrow(/There is no such file/);
  });

  it("with a syntax error is shown with its line", async () => {
    const file = write("sir.config.ts", "export default {\n  server: { port: 1,\n};\n");

    await expect(load()).rejects.toThrow(
      new RegExp(`${file} has 1 problem:\\n.*line 3, column \\d+: .*Unexpected token`),
    );
  });

  it("with a syntax error in JSON is shown with its line", async () => {
    write("sir.config.json", '{\n  "server": {},\n}\n');

    await expect(load()).rejects.toThrow(/line 3, column 1/);
  });

  it("that throws is shown with the line that threw", async () => {
    write("sir.config.ts", 'const x: number = 1;\n\nthrow new Error("no GPU here");\nexport default {};\n');

    await expect(load()).rejects.toThrow(/line 3, column \d+: no GPU here/);
  });

  it("without a default export says what to write", async () => {
    write("sir.config.ts", "export const config = {};\n");

    await expect(load()).rejects.toThrow(/models: is missing|no default export/);
  });
});

describe("environment and flags", () => {
  const environment = { SIR_HOST: "127.0.0.2", SIR_PORT: "9001", SIR_STORE: "sqlite:other.db", SIR_LOG_LEVEL: "debug" };

  it("lie over the file, flags on top", async () => {
    write("sir.config.json", `{ "server": { "port": 82, "host": "127.0.0.3" }, "models": { "chat": ${model} } }`);

    const config = await load({ environment, flags: { port: "9002" } });

    expect(config.server).toMatchObject({ host: "127.0.0.2", port: 9002 });
    expect(config.logLevel).toBe("debug");
  });

  it("are told apart in the origins", async () => {
    write("sir.config.json", `{ "server": { "port": 82 }, "models": { "chat": ${model} } }`);

    const { values } = await load({ environment: { SIR_HOST: "127.0.0.2" }, flags: { store: "sqlite::memory:" } });

    const origin = (path: string) => values.find((each) => each.path === path)?.origin;
    expect(origin("server.host")).toEqual({ kind: "environment", variable: "SIR_HOST" });
    expect(origin("server.port")).toMatchObject({ kind: "file" });
    expect(origin("store.url")).toEqual({ kind: "flag", flag: "--store" });
    expect(origin("jobs.leaseSeconds")).toEqual({ kind: "default" });
    expect(origin("scheduler.maxWaitSeconds")).toEqual({ kind: "default" });
    expect(origin("models.chat.backend.tokensPerSecond")).toEqual({ kind: "default" });
  });

  it("never show a key", async () => {
    const backend =
      '{ "driver": "remote", "baseUrl": "http://127.0.0.1:1/v1", "apiKey": "sk-123", "headers": { "x-a": "s3cret" } }';
    write("sir.config.json", `{ "models": { "chat": { "backend": ${backend} } } }`);

    const { values } = await load();

    expect(JSON.stringify(values)).not.toMatch(/sk-123|s3cret/);
    expect(values).toContainEqual(expect.objectContaining({ path: "models.chat.backend.apiKey", value: "(set)" }));
  });

  it("that make no sense are refused in words", async () => {
    write("sir.config.json", `{ "models": { "chat": ${model} } }`);

    await expect(load({ environment: { SIR_PORT: "http" } })).rejects.toThrow(
      /^the configuration has 1 problem:\n {2}SIR_PORT: came as "http"/,
    );
    await expect(load({ environment: { SIR_LOG_LEVEL: "loud" } })).rejects.toThrow(/SIR_LOG_LEVEL: came as "loud"/);
  });

  it("that are empty count as not set", async () => {
    write("sir.config.json", `{ "models": { "chat": ${model} } }`);

    expect((await load({ environment: { SIR_PORT: "" } })).server.port).toBe(8000);
  });
});

describe("the store's path", () => {
  it("is relative to the file, or to the working directory when a flag or a variable names it", () => {
    const inFile = resolve({ store: { url: "sqlite:./data/sir.db" } });
    const flag = { path: ["store", "url"], value: "sqlite:x.db", origin: { kind: "flag", flag: "--store" } } as const;

    expect(inFile.store.databasePath).toBe("/etc/sir/data/sir.db");
    expect(resolve({}, [flag]).store).toEqual({ url: "sqlite:/srv/x.db", databasePath: "/srv/x.db", dataDir: "/srv" });
  });

  it("may be nowhere", () => {
    expect(resolve({ store: { url: "sqlite::memory:" } }).store.databasePath).toBeNull();
  });
});

describe("ConfigError", () => {
  it("lists every problem on a line of its own", () => {
    const error = new ConfigError("sir.config.ts", [
      { path: "a.b", text: "is missing.", mend: "Write it." },
      { path: "c", text: "is odd.", mend: "" },
    ]);

    expect(error.message).toBe("sir.config.ts has 2 problems:\n  a.b: is missing. Write it.\n  c: is odd.");
  });
});
