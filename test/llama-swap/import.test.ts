// biome-ignore-all lint/suspicious/noTemplateCurlyInString: macros and placeholders are written in files
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { type Imported, importLlamaSwap } from "../../src/llama-swap/import.ts";
import { SourceError } from "../../src/llama-swap/source.ts";

const folder = join(import.meta.dirname, "files");
const files = readdirSync(folder);
/** As it stands in llama-swap's files. */
const PORT = "$".concat("{PORT}");

const taken = (text: string): Imported => importLlamaSwap(text, "config.yaml");
const file = (name: string): Imported => taken(readFileSync(join(folder, name), "utf8"));

/** Settings as this test counts them: with its own walk, over what the YAML library makes of the text. */
function count(value: unknown): number {
  if (typeof value !== "object" || value === null || Array.isArray(value) || Object.keys(value).length === 0) return 1;
  return Object.values(value).reduce<number>((sum, each) => sum + count(each), 0);
}

const settings = (findings: Imported["changed"]): number => findings.reduce((sum, each) => sum + each.settings, 0);

function accounted(text: string) {
  const { read, carried, changed, leftOut } = taken(text);
  expect(read).toBe(count(parse(text, { merge: true })));
  expect(carried + settings(changed) + settings(leftOut)).toBe(read);
}

const KNOWN = [
  `cmd: "serve --port ${PORT}"`,
  "ttl: 5",
  "unlisted: true",
  "name: N",
  "env: [A=b]",
  "filters: { setParams: { x: 1, y: { z: 2 } } }",
  "checkEndpoint: none",
  "concurrencyLimit: 4",
  "metadata: {}",
  "timeouts: { connect: 1, responseHeader: 2, odd: 3 }",
];

describe("the account of settings", () => {
  it.each(files)("is whole for %s: read = carried + changed + left out", (name) => {
    accounted(readFileSync(join(folder, name), "utf8"));
  });

  it("is whole whatever keys a file has, and every strange one is named with its line", () => {
    const strange = fc.uniqueArray(fc.stringMatching(/^z[a-z]{5,8}$/));
    const top = fc.subarray(["globalTTL: 3", "macros: { a: 1, b: 2 }", "zebra: { a: 1, b: [2] }"]);
    fc.assert(
      fc.property(fc.subarray(KNOWN), strange, top, (own, odd, above) => {
        const keys = [...own, ...odd.map((key) => `${key}: 1`)];
        const lines = [...above, "models:", "  m:", ...keys.map((key) => `    ${key}`), "    ttl2: 1", "  n: {}"];
        const text = lines.join("\n");
        accounted(text);
        // A model that cannot be taken over takes its keys with it.
        if (!own.some((line) => line.startsWith("cmd"))) return;
        for (const key of odd) {
          const line = lines.indexOf(`    ${key}: 1`) + 1;
          const found = expect.objectContaining({ path: `models.m.${key}`, line, settings: 1 });
          expect(taken(text).leftOut).toContainEqual(found);
        }
      }),
      { numRuns: 200 },
    );
  });

  it("names each documented key that is left out or changed by its own path and line", () => {
    const { changed, leftOut } = file("every-key.yaml");
    const paths = [...changed, ...leftOut].map(({ path, line }) => `${line} ${path}`);

    expect(leftOut.filter(({ text }) => text.includes("is no key"))).toEqual([]);
    expect(paths).toEqual(
      expect.arrayContaining([
        "2 healthCheckTimeout",
        "11 startPort",
        "53 models.thinker.filters.stripParams",
        "59 models.thinker.metadata",
        "60 models.thinker.concurrencyLimit",
        "90 routing.router.settings.matrix.sets.odd",
        "105 peers.tail",
      ]),
    );
  });
});

describe("what is written", () => {
  it.each(files)("from %s is the same from day to day", async (name) => {
    await expect(file(name).text).toMatchFileSnapshot(`golden/${name.replace(".yaml", ".ts.txt")}`);
  });

  it("splits a command as a shell would, with comments gone and macros filled in before", () => {
    const command = ["# ${a}", "run \\", '  \'--f=a b\' "c \\" d" e\\ f ${a}', `--port ${PORT}`];
    const lines = [
      "macros: { b: y, a: 'x ${b}' }",
      "models:",
      "  m:",
      "    cmd: |",
      ...command.map((line) => `      ${line}`),
    ];

    const { text } = taken(lines.join("\n"));

    expect(text).toContain(`command: ["run", "--f=a b", 'c " d', "e f", "x", "y", "--port", "${PORT}"],`);
  });

  it("leaves the environment a look-up, also in the middle of a word", () => {
    const { text } = taken(`models: { m: { cmd: "run \${env.HOME}/\`x\` --port ${PORT}" } }`);

    expect(text).toContain(`command: ["run", \`\${env("HOME")}/\\\`x\\\`\`, "--port", "${PORT}"]`);
    expect(text).toContain("const env = (name: string): string => {");
  });

  it("copies no key from anywhere", () => {
    const secret = "sk-never-to-be-seen";
    const { text, changed, leftOut } = taken(
      [
        `apiKeys: [${secret}]`,
        "models:",
        `  1m: { cmd: "run --port ${PORT} --api-key ${secret}", env: [HF_TOKEN=${secret}] }`,
        `peers: { p: { proxy: "http://h", apiKey: ${secret}, models: [x] } }`,
      ].join("\n"),
    );

    expect(JSON.stringify([text, changed, leftOut])).not.toContain(secret);
    expect(text).toContain('apiKey: env("_1M_ENGINE_KEY")');
    expect(text).toContain('apiKey: process.env["P_API_KEY"]');
  });

  it("asks the port that llama-swap would ask, and tells the command the one it would tell", () => {
    const b = `b: { cmd: "b ${PORT}", proxy: "http://127.0.0.1:9" }`;
    const { text, remarks } = taken(`startPort: 70\nmodels: { ${b}, a: { cmd: "a ${PORT}" }, c: { cmd: c } }`);

    expect(text).toContain('command: ["b", "71"], port: 9');
    expect(text).toContain(`command: ["a", "${PORT}"], listed`);
    expect(text).toContain('command: ["c"], port: 70');
    expect(remarks[0]).toContain("models.b");
  });

  it("says a macro that does not exist, and leaves it", () => {
    const { text, remarks } = taken(`models: { m: { cmd: "run \${nope} ${PORT}" } }`);

    expect(text).toContain(`["run", "\${nope}", "${PORT}"]`);
    expect(remarks[0]).toBe("models.m: ${nope} is no macro, and stays in the text as it is.");
  });
});

describe("what may be together", () => {
  const models = (...names: string[]): string =>
    `models: { ${names.map((name) => `${name}: { cmd: "run ${PORT}" }`).join(", ")} }\n`;

  it("is nothing to write when one model is loaded at a time", () => {
    const { text } = taken(`${models("a", "b")}groups: { g: { members: [a, b] } }`);

    expect(text).not.toContain("memoryGiB");
  });

  it("keeps a group's members together and everything else out", () => {
    const { text } = taken(`${models("a", "b", "c")}groups: { g: { swap: false, members: [a, b] } }`);

    expect(text).toMatch(/gpu0: \{\n[^}]*memoryGiB: 2,/);
    expect(text.match(/memoryGiB: 1,/g)).toHaveLength(2);
    expect(text).not.toContain("neverTogether");
  });

  it("follows a matrix through brackets, alternatives and references", () => {
    const sets = 'sets: { one: "(x | b) & c", two: "+one | d" }';
    const { text } = taken(`${models("a", "b", "c", "d")}matrix: { vars: { x: a }, ${sets} }`);

    expect(text).toContain('neverTogether: [["a", "b"]],');
    expect(text.match(/memoryGiB: 1,/g)).toHaveLength(3);
  });

  it("says of a set what is wrong with it", () => {
    const sets = '{ loop: "+loop", gone: +nothing, cut: "a & (a", bad: "a ^ a" }';
    const { leftOut } = taken(`${models("a")}matrix: { sets: ${sets} }`);

    expect(leftOut.map(({ text }) => text)).toEqual([
      "the set loop holds itself.",
      "there is no set nothing.",
      'a bracket is not closed in "a & (a".',
      '"^" is not understood in "a ^ a".',
    ]);
  });

  it("does not count peers, which are elsewhere", () => {
    const peer = 'peers: { p: { proxy: "http://h", models: [x] } }\n';
    const { text } = taken(`${models("a", "b")}${peer}groups: { g: { swap: false, members: [a, b] } }`);

    expect(text).not.toContain("neverTogether");
  });
});

describe("a file that cannot be read", () => {
  it.each([
    ["models: [", /^line \d+: /],
    ["- a\n- b", /^it holds no keys$/],
    ["a: &x { b: *x }", /holds itself|line 1/],
  ])("is refused in words: %j", (text, words) => {
    expect(() => taken(text)).toThrow(SourceError);
    expect(() => taken(text)).toThrow(words);
  });
});

it("the older spelling of stripParams is left out with the same words, not as a key that nobody knows", () => {
  const of = (name: string) =>
    taken(`models: { a: { cmd: serve, filters: { ${name}: "temperature, top_p" } } }`).leftOut;

  expect(of("strip_params").map(({ text }) => text)).toEqual(of("stripParams").map(({ text }) => text));
  expect(of("strip_params").map(({ path }) => path)).toEqual(["models.a.filters.strip_params"]);
});

it("a port that is taken on the machine is not written for the router", () => {
  const { text } = importLlamaSwap("models: { a: { cmd: serve } }", "config.yaml", 8_100);

  expect(text).toContain("// 8000 is taken on this machine, so 8100.");
  expect(text).toContain('server: { host: "127.0.0.1", port: 8100 },');
});
