import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { startRouter } from "../../src/assemble.ts";
import { loadConfig } from "../../src/config/load.ts";
import { createLog } from "../../src/observe/log.ts";
import { terminal } from "./terminal.ts";

const folder = mkdtempSync(join(tmpdir(), "sir-keys-"));
afterAll(() => rmSync(folder, { recursive: true }));

const sha256 = (key: string): string => createHash("sha256").update(key).digest("hex");

/** A configuration with what `sir keys new` printed. */
function configured(lines: string): string {
  const file = join(folder, "sir.config.ts");
  const models = `{ chat: { loadSeconds: 0.05, backend: { driver: "mock", loadSeconds: 0.05 } } }`;
  writeFileSync(
    file,
    `export default { server: { port: 0 }, store: { url: "sqlite:./data/sir.db" }, models: ${models},\n${lines}\n};\n`,
  );
  return file;
}

const sir = async (environment: Record<string, string>, ...argv: string[]) => {
  const { run, out, err } = terminal({ environment, cwd: folder });
  const code = await run("keys", ...argv);
  return { code, out: out(), err: err() };
};

describe("sir keys", () => {
  it("prints the key once and lines that a configuration takes as they are; the router then lets it in", async () => {
    const made = await sir({}, "new", "review-bot", "--scopes", "submit,observe");
    const key = made.out;
    expect(key).toMatch(/^sir_[\w-]{43}$/);
    expect(made.err).not.toContain(key);
    const file = configured(made.err.slice(made.err.indexOf("  keys: {")));

    expect((await sir({}, "list")).out).toBe(
      `NAME\tSCOPES\tSHA256\nreview-bot\tsubmit,observe\t${sha256(key).slice(0, 12)}`,
    );
    expect(await sir({ SIR_API_KEY: key }, "check")).toEqual({ code: 0, out: "review-bot: submit, observe", err: "" });
    const config = await loadConfig({ cwd: folder, environment: {}, flags: { config: file } });
    const router = await startRouter(config, { log: createLog({ level: "silent" }) });
    const ask = async (sent: string) =>
      (await fetch(`${router.url}/metrics`, { headers: { authorization: `Bearer ${sent}` } })).status;
    expect([await ask(key), await ask(`${key}x`)]).toEqual([200, 401]);
    await router.close();
  });

  it("makes another key each time", async () => {
    const keys = [await sir({}, "new", "a", "--json"), await sir({}, "new", "a", "--json")];

    const [one, two] = keys.map(({ out }) => JSON.parse(out) as { key: string; sha256: string; scopes: string[] });

    expect(one?.key).not.toBe(two?.key);
    expect(one).toMatchObject({ sha256: sha256(one?.key ?? ""), scopes: ["submit"] });
  });

  it("says when there are none, and of an unknown key that it is nobody's", async () => {
    configured("");

    expect(await sir({}, "list", "--json")).toMatchObject({
      code: 0,
      out: '{"object":"list","data":[],"has_more":false}',
    });
    expect((await sir({}, "list")).err).toContain("No keys");
    expect(await sir({ SIR_API_KEY: "sir_x" }, "check")).toMatchObject({ code: 4, out: "" });
    expect(await sir({ SIR_API_KEY: "sir_x" }, "check", "--json")).toMatchObject({
      code: 4,
      out: "",
      err: expect.stringContaining("invalid_api_key"),
    });
  });

  it.each([
    [["new"], "needs a name"],
    [["new", "a b"], "is no name for a key"],
    [["new", "a", "--scopes", "admin"], '"admin" is no scope'],
    [["nw"], 'Did you mean "new"?'],
    [["check"], "SIR_API_KEY or --key-file"],
  ])("refuses %j in words", async (argv, words) => {
    const refused = await sir({}, ...argv);

    expect([refused.code, refused.out]).toEqual([2, ""]);
    expect(refused.err).toContain(words);
  });
});
