// biome-ignore-all lint/suspicious/noTemplateCurlyInString: macros and placeholders are written in files
// Whatever stands in llama-swap's file, what is written is a configuration that the loader takes, or the file is refused in
// words.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, expect, it, vi } from "vitest";
import { stringify } from "yaml";
import { loadConfig } from "../../src/config/load.ts";
import { importLlamaSwap } from "../../src/llama-swap/import.ts";
import { SourceError } from "../../src/llama-swap/source.ts";

const folder = mkdtempSync(join(tmpdir(), "sir-odd-"));
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

const number = fc.oneof(
  fc.integer({ min: -5, max: 2_000_000_000 }),
  fc.double({ noNaN: true }),
  fc.constantFrom("7", "x", null, true),
);
const text = fc.oneof(
  fc.string({ maxLength: 20 }),
  fc.constantFrom(
    "",
    " padded ",
    "a\nb",
    "${env.SOME}",
    "${MODEL_ID}",
    "${PORT}",
    "${gone}",
    'it\'s "x"',
    "\\",
    "`${PORT}`",
    "é…🙂",
  ),
);
const words = fc.oneof(
  text,
  fc.constantFrom("run ${PORT}", 'run "" ${PORT}', "run 'open", "docker run -d x", "run --api-key k ${PORT}"),
);
const address = fc.oneof(
  text,
  fc.constantFrom("http://127.0.0.1:9", "https://h", "http://[::1]:${PORT}/x", "http://h:99999", "tailcat://t"),
);
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const list = (value: fc.Arbitrary<unknown>) => fc.oneof(fc.array(value, { maxLength: 4 }), value);
const id = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom("a", "b", "c d", "e/f:g", "__proto__x", "1") },
  { weight: 1, arbitrary: text },
);

const model = fc.record({
  cmd: fc.oneof({ weight: 4, arbitrary: fc.constant("run ${PORT}") }, { weight: 2, arbitrary: words }),
  proxy: maybe(address),
  env: maybe(list(fc.oneof(text, fc.constantFrom("A=b", "MY_TOKEN=x", "A=${env.SOME}")))),
  ttl: maybe(number),
  unloadTimeout: maybe(number),
  useModelName: maybe(text),
  name: maybe(text),
  description: maybe(text),
  checkEndpoint: maybe(text),
  concurrencyLimit: maybe(number),
  aliases: maybe(list(fc.oneof(id, fc.record({ id, name: text })))),
  timeouts: maybe(fc.record({ responseHeader: number, connect: number })),
  filters: maybe(fc.record({ setParamsByID: fc.dictionary(id, fc.constant({ a: 1 }), { maxKeys: 2 }) })),
});

const config = fc.record({
  healthCheckTimeout: maybe(number),
  globalTTL: maybe(number),
  unloadTimeout: maybe(number),
  startPort: maybe(fc.integer({ min: 1024, max: 60_000 })),
  logLevel: maybe(fc.oneof(text, fc.constant("debug"))),
  macros: maybe(fc.dictionary(fc.constantFrom("m", "n"), fc.oneof(text, fc.constantFrom("${m}", "${n} x")))),
  models: fc.dictionary(id, fc.oneof({ weight: 9, arbitrary: model }, { weight: 1, arbitrary: text }), {
    minKeys: 1,
    maxKeys: 4,
  }),
  groups: maybe(
    fc.dictionary(
      fc.constantFrom("g", "h"),
      fc.record({ swap: fc.boolean(), exclusive: fc.boolean(), persistent: fc.boolean(), members: list(id) }),
    ),
  ),
  matrix: maybe(
    fc.record({
      sets: fc.dictionary(fc.constantFrom("s", "t"), fc.oneof(text, fc.constantFrom("a & b", "(a | b) & +t", "+s"))),
    }),
  ),
  hooks: maybe(fc.record({ on_startup: fc.record({ preload: list(id) }) })),
  routing: maybe(
    fc.record({
      scheduler: fc.record({
        use: fc.constantFrom("fifo", "serial"),
        settings: fc.record({ serial: fc.record({ agingDivisor: number, swapAffinityBonus: number }) }),
      }),
    }),
  ),
  peers: maybe(
    fc.dictionary(fc.constantFrom("p", "q"), fc.record({ proxy: address, apiKey: maybe(text), models: list(id) })),
  ),
});

it("an odd value makes no configuration that is refused", async () => {
  let written = 0;
  await fc.assert(
    fc.asyncProperty(config, async (value) => {
      const source = stringify(value);
      let taken: ReturnType<typeof importLlamaSwap>;
      try {
        taken = importLlamaSwap(source, "config.yaml");
      } catch (error) {
        expect(error).toBeInstanceOf(SourceError);
        return;
      }
      const sum = (findings: typeof taken.changed): number => findings.reduce((all, { settings }) => all + settings, 0);
      expect(taken.carried + sum(taken.changed) + sum(taken.leftOut)).toBe(taken.read);
      if (taken.models.length === 0) return;
      const file = join(folder, `${written++}.ts`);
      writeFileSync(file, taken.text);
      for (const [, name = ""] of taken.text.matchAll(/env\("(\w+)"\)/g)) vi.stubEnv(name, "set");
      const loaded = await loadConfig({ cwd: folder, environment: {}, flags: { config: file } });
      expect(loaded.engine.models.map(({ name }) => String(name))).toEqual(taken.models);
    }),
    { numRuns: 300 },
  );
  expect(written).toBeGreaterThan(100);
}, 120_000);

it("a macro that holds itself comes to an end", () => {
  const { text: made } = importLlamaSwap(
    'macros: { a: "x ${a}" }\nmodels: { m: { cmd: "run ${a} ${PORT}" } }',
    "c.yaml",
  );

  expect(made.length).toBeLessThan(100_000);
});

it("anchors that hold anchors without end are refused", () => {
  const lines = ["a0: &a0 { x: 1, y: 2 }"];
  for (let i = 1; i < 30; i++) lines.push(`a${i}: &a${i} { x: *a${i - 1}, y: *a${i - 1} }`);

  expect(() => importLlamaSwap(lines.join("\n"), "c.yaml")).toThrow(/more than 50000 keys/);
});
