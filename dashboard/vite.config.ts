// How the dashboard becomes files: hashed names, relative addresses (it may lie behind a proxy at any path), nothing
// inlined that the content security policy would refuse, and of uPlot only what our charts draw.

import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "vite";

/** Kinds of drawing that no chart here has: without these lines nothing needs their code, and it is left out. */
const UNUSED = [
  ["const showLegend = legend.show;", "const showLegend = false;"],
  ["const showCursor =                cursor.show;", "const showCursor = false;"],
  ["(paths.bars    = bars);", ""],
  ["(paths.spline  = monotoneCubic);", ""],
  ["uPlot.join = join;", ""],
] as const;

/** Saves 3.4 kB gzip of 22. uPlot's version is exact; one with other lines ends the build here. */
const lessOfUplot: Plugin = {
  name: "less-of-uplot",
  transform(code, id) {
    if (!id.endsWith("uPlot.esm.js")) return null;
    let rest = code;
    for (const [line, instead] of UNUSED) {
      if (!rest.includes(line))
        this.error(`uPlot has no line "${line}" any more: see UNUSED in dashboard/vite.config.ts`);
      rest = rest.replace(line, instead);
    }
    return { code: rest, map: null };
  },
};

export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  base: "./",
  plugins: [lessOfUplot],
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: fileURLToPath(new URL("../dist/dashboard", import.meta.url)),
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: false,
    reportCompressedSize: true,
  },
});
