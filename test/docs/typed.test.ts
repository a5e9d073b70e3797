// TypeScript that pages show is TypeScript that compiles, against this very source.

import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, it } from "vitest";
import { loadConfig } from "../../src/config/load.ts";
import { blocksOf } from "./blocks.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const folder = join(root, ".tmp", `pages-${process.pid}`);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const pages = [
  "README.md",
  ...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" }).map((name) => `docs/${name}`),
];
const blocks = pages
  .filter((page) => page.endsWith(".md"))
  .flatMap((page) =>
    blocksOf(readFileSync(join(root, page), "utf8"))
      .filter(({ language, kind }) => language === "ts" && kind !== "skip")
      .map(({ line, text }) => ({ page, line, text })),
  );

/** Reports each fault at the page and the block it stands in. */
function faultsOf(shown: typeof blocks): string[] {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const name = ({ page, line }: { page: string; line: number }): string =>
    `${page.replaceAll(/[^\w]+/g, "-")}-${line}.ts`;
  for (const block of shown) writeFileSync(join(folder, name(block)), `${block.text}\nexport {};\n`);
  const options = { noUnusedLocals: false, noPropertyAccessFromIndexSignature: false };
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({ extends: "../../tsconfig.json", compilerOptions: options, include: ["*.ts"], exclude: [] }),
  );
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  const { stdout } = spawnSync(process.execPath, [tsc, "-p", folder], { encoding: "utf8" });
  return stdout.split("\n").filter((line) => line.includes("error TS"));
}

it("TypeScript blocks compile", () => {
  expect(blocks.length).toBeGreaterThan(0);
  expect(faultsOf(blocks)).toEqual([]);
});

it("every configuration that is shown is accepted", async () => {
  const shown = blocks.filter(({ text }) => text.includes("defineConfig("));
  mkdirSync(folder, { recursive: true });

  for (const { page, line, text } of shown) {
    const file = join(folder, `configuration-${line}.ts`);
    writeFileSync(file, text);
    const loaded = await loadConfig({ cwd: folder, environment: {}, flags: { config: file } });

    expect(loaded.warnings, `${page}:${line}`).toEqual([]);
  }
  expect(shown.length).toBeGreaterThan(0);
});

it("a wrong configuration key in a block is seen", () => {
  const text = 'import { defineConfig } from "sir-router";\nexport default defineConfig({ modles: {} });';

  expect(faultsOf([{ page: "wrong.md", line: 1, text }])).toHaveLength(1);
});
