// Keeps the map true: who imports whom, how long files are, what may be written where, and that the tables in README
// list what the code has.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { fileCircles, folderCircles } from "./map/circles.ts";
import { dashboardProblems, formProblems, type SourceFile, sourceProblems } from "./map/rules.ts";

const root = new URL("../", import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), "utf8");

function filesUnder(folder: string): SourceFile[] {
  return readdirSync(new URL(folder, root), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name) && !entry.parentPath.includes("node_modules"))
    .map((entry) => `${entry.parentPath.replaceAll("\\", "/")}/${entry.name}`)
    .map((absolute) => absolute.slice(absolute.lastIndexOf(`/${folder}`) + 1).replaceAll("//", "/"))
    .map((path) => ({ path, text: read(path) }));
}

describe("the map", () => {
  it("holds for every source file", () => {
    const files = filesUnder("src/");

    expect(files.length).toBeGreaterThan(40);
    expect(sourceProblems(files)).toEqual([]);
  });

  it("holds for every file of the dashboard", () => {
    const files = filesUnder("dashboard/");

    expect(files.length).toBeGreaterThan(20);
    expect(files.flatMap(dashboardProblems)).toEqual([]);
  });

  it.each(["src/", "dashboard/"])("has no circle of imports in %s", (folder) => {
    expect(fileCircles(filesUnder(folder))).toEqual([]);
    expect(folderCircles(filesUnder(folder))).toEqual([]);
  });

  it("holds in form for every test", () => {
    expect(filesUnder("test/").flatMap(formProblems)).toEqual([]);
  });

  it("has every driver in the registry", () => {
    const registry = read("src/backends/registry.ts");
    const drivers = filesUnder("src/backends/").filter(({ text }) => /(=|return)\s+defineDriver[<(]/.test(text));

    const missing = drivers.filter(({ path }) => !registry.includes(`./${path.slice("src/backends/".length)}`));

    expect(drivers.length).toBeGreaterThan(0);
    expect(missing.map(({ path }) => path)).toEqual([]);
  });

  it("has every policy in the registry", () => {
    const registry = read("src/scheduler/policies/registry.ts");
    const policies = filesUnder("src/scheduler/policies/").filter(({ text }) =>
      /(=|return)\s+definePolicy[<(]/.test(text),
    );

    const missing = policies.filter(
      ({ path }) => !registry.includes(`./${path.slice("src/scheduler/policies/".length)}`),
    );

    expect(policies.length).toBeGreaterThan(0);
    expect(missing.map(({ path }) => path)).toEqual([]);
  });
});

const pages = ["./", "docs/", "deploy/", "bench/", "src/", "test/"].flatMap((folder) =>
  readdirSync(new URL(folder, root), { recursive: folder !== "./", encoding: "utf8" })
    .filter((name) => name.endsWith(".md") && !name.includes("node_modules"))
    .map((name) => `${folder === "./" ? "" : folder}${name}`),
);

describe("the pages", () => {
  it.each(pages)("%s links only to what is there", (page) => {
    const text = read(page);
    const links = [...text.matchAll(/\]\((?!https?:|#)([^)#\s]+)|(?:src|srcset)="(?!https?:)([^"]+)"/g)].map(
      ([, link, picture]) => link ?? picture ?? "",
    );

    expect(links.filter((target) => !existsSync(new URL(target, new URL(page, root))))).toEqual([]);
  });

  it("README.md can be read in one sitting", () => {
    expect(read("README.md").split("\n").length).toBeLessThan(300);
  });

  it("AGENTS.md stays short enough to be read", () => {
    expect(read("AGENTS.md").split("\n").length).toBeLessThanOrEqual(120);
  });
});

describe("a planted mistake", () => {
  const planted = (path: string, body: string): string[] =>
    sourceProblems([{ path, text: `// For a test.\n${body}\n` }]);

  it.each([
    ["a static import", "src/engine/planted.ts", 'import Database from "better-sqlite3";'],
    ["a re-export", "src/engine/planted.ts", 'export { openStore } from "../store/sqlite/open.ts";'],
    ["a star export", "src/http/planted.ts", 'export * from "../scheduler/decide.ts";'],
    ["a dynamic import", "src/http/planted.ts", 'const load = () => import("../store/sqlite/open.ts");'],
    ["a type import", "src/backends/planted.ts", 'import type { Store } from "../store/store.ts";'],
    ["a type query", "src/domain/planted.ts", 'export type S = import("../store/store.ts").Store;'],
    ["an import over several lines", "src/scheduler/planted.ts", 'import {\n  a,\n  b,\n} from "../engine/loop.ts";'],
    ["an import for effect", "src/domain/planted.ts", 'import "node:fs";'],
    ["a file at the root of src", "src/assemble.ts", 'import { run } from "./simulator/replay.ts";'],
  ])("is caught: %s in the wrong place", (_what, path, body) => {
    expect(planted(path, body)).toEqual([expect.stringContaining("must not import")]);
  });

  it.each([
    ["the time", "src/engine/planted.ts", "const now = Date.now();"],
    ["a date", "src/http/planted.ts", "const now = new Date();"],
    ["a timer", "src/store/planted.ts", "setTimeout(() => {}, 10);"],
    ["chance", "src/scheduler/planted.ts", "const toss = Math.random();"],
    ["the process", "src/config/planted.ts", "const home = process.env;"],
    ["printing", "src/engine/planted.ts", 'console.log("x");'],
  ])("is caught: %s outside its place", (_what, path, body) => {
    expect(planted(path, body)).toHaveLength(1);
  });

  it.each([
    ["the router's insides", 'import { ERRORS } from "../../src/domain/errors.ts";', "must not import"],
    ["the browser's own time", "const now = Date.now();", "the router's clock"],
    ["markup out of text", "host.innerHTML = name;", "text"],
    ["a style the policy refuses", 'bar.setAttribute("style", "width: 1px");', "style"],
  ])("is caught: %s on the dashboard", (_what, body, why) => {
    const text = `// A planted file.\n${body}\n`;

    expect(dashboardProblems({ path: "dashboard/src/planted.ts", text })).toEqual([expect.stringContaining(why)]);
  });

  it("is caught: a circle of imports, between files and between folders", () => {
    const three = [
      { path: "src/a/one.ts", text: 'import { two } from "../b/two.ts";' },
      { path: "src/b/two.ts", text: 'export { three } from "../b/three.ts";' },
      { path: "src/b/three.ts", text: 'import { one } from "../a/one.ts";\nimport { far } from "../c/far.ts";' },
      { path: "src/c/far.ts", text: "export const far = 1;" },
    ];
    const typed = three.map((file) => ({ ...file, text: file.text.replaceAll("import {", "import type {") }));

    expect(fileCircles(three)).toEqual([["src/a/one.ts", "src/b/three.ts", "src/b/two.ts"]]);
    expect(folderCircles(three)).toEqual([["src/a", "src/b"]]);
    expect(fileCircles(typed)).toEqual([]);
    expect(folderCircles(typed)).toEqual([["src/a", "src/b"]]);
  });

  it("is caught: a folder that nobody has put on the map", () => {
    expect(planted("src/plugins/one.ts", "export {};")).toEqual([expect.stringContaining("not in the table")]);
  });

  it("is caught: a file that is too long, without a first sentence, or with an empty name", () => {
    const long = formProblems({ path: "src/engine/long.ts", text: "// Long.\n".repeat(301) });
    const silent = formProblems({ path: "src/engine/silent.ts", text: "export {};\n" });
    const named = formProblems({ path: "src/engine/utils.ts", text: "// Hm.\nclass JobManager {}\n" });

    expect([long.length, silent.length, named.length]).toEqual([1, 1, 2]);
  });

  it("does not mistake words in comments and strings for code", () => {
    const body = "// Date.now() is banned\nexport const hint = \"console.log and import('x')\"; /* process.exit */";

    expect(planted("src/engine/planted.ts", body)).toEqual([]);
  });
});
