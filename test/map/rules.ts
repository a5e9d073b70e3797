// The map of the source as a table: which folder may import what, and what may be written where. Pure: it takes texts,
// so that a planted mistake can be shown to be caught.

import { posix } from "node:path";
import { codeOnly, importsOf } from "./source-text.ts";

export interface SourceFile {
  /** From the root of the project, with forward slashes: `src/engine/engine.ts`. */
  readonly path: string;
  readonly text: string;
}

const EVERYTHING = "*";

/**
 * Folder (or single file) to what it may import: other folders, single files, packages, `node:`. Its own folder always.
 * Most telling first: domain and client import nothing; a driver knows no store and no scheduler; engine sees store and
 * drivers only as interfaces; only assemble.ts picks implementations.
 */
export const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  "src/domain": [],
  "src/client": [],
  "src/scheduler": ["src/domain", "zod"],
  "src/backends": ["src/domain", "zod", "undici", "node:"],
  "src/store": ["src/domain", "drizzle-orm", "better-sqlite3", "node:"],
  "src/config": [
    "src/domain",
    "src/scheduler",
    "src/backends",
    "src/engine/settings.ts",
    "src/webhooks",
    "zod",
    "jiti",
    "node:",
  ],
  "src/intake": ["src/domain", "src/store/store.ts", "src/engine/control.ts", "src/engine/relay.ts", "node:"],
  // Files and batches sit beside intake: they take jobs in by the thousand, and see store and engine as intake does.
  "src/batches": [
    "src/domain",
    "src/intake",
    "src/store/store.ts",
    "src/store/file-verbs.ts",
    "src/store/batch-verbs.ts",
    "src/engine/control.ts",
    "zod",
    "node:",
  ],
  "src/responses": ["src/domain", "node:"],
  "src/engine": ["src/domain", "src/scheduler", "src/store/store.ts", "src/responses", "src/backends/backend.ts"],
  // Sends what the store has noted; knows neither jobs nor batches.
  "src/webhooks": ["src/domain", "src/store/delivery-verbs.ts", "node:"],
  // Traces of jobs for OpenTelemetry. Only its exporter.ts knows the SDK.
  "src/trace": ["src/domain", "src/explain", "src/store/store.ts", "@opentelemetry"],
  "src/observe": ["src/domain", "pino", "prom-client", "node:perf_hooks"],
  // What changes, for those who watch; what frames say is HTTP's.
  "src/live": ["src/domain"],
  "src/http": [
    "src/domain",
    "src/live",
    "src/intake",
    "src/batches",
    "src/responses",
    "src/store/store.ts",
    "src/store/file-verbs.ts",
    "src/store/timeline-verbs.ts",
    "src/store/job-rows.ts",
    "src/engine/control.ts",
    "src/engine/overview.ts",
    "src/engine/relay.ts",
    "src/client/wire.ts",
    "src/client/wire-status.ts",
    "src/client/wire-explain.ts",
    "src/client/wire-live.ts",
    "src/explain",
    "hono",
    "@hono/node-server",
    "@hono/zod-openapi",
    "zod",
    "node:",
  ],
  // Where time went, in words and numbers: pure but for the store's reads. The API, the command line and the page's
  // server all print what this folder says.
  "src/explain": [
    "src/domain",
    "src/scheduler/wording.ts",
    "src/store/store.ts",
    "src/store/model-log.ts",
    "src/engine/control.ts",
    "src/engine/overview.ts",
    "src/client/wire.ts",
    "src/client/wire-explain.ts",
    "src/client/wire-status.ts",
  ],
  "src/simulator": [
    "src/client/wire-replay.ts",
    "src/explain",
    "src/domain",
    "src/scheduler",
    "src/engine",
    "src/store",
    "src/backends",
    "src/config",
    "zod",
    "better-sqlite3",
    "node:",
  ],
  // What the page may know: the wire, and words that the server uses too.
  "dashboard/src": [
    "src/client/wire.ts",
    "src/client/wire-explain.ts",
    "src/client/wire-live.ts",
    "src/client/wire-replay.ts",
    "src/client/wire-status.ts",
    "src/scheduler/wording.ts",
    "preact",
    "uplot",
  ],
  "dashboard/vite.config.ts": ["vite", "node:"],
  "src/system": ["src/domain", "node:"],
  // Looks at the machine and knows nothing of what is made of it.
  "src/discovery": ["node:"],
  // Reads another router's configuration; what it means in ours is told as text and findings.
  "src/llama-swap": ["src/config/config-text.ts", "src/config/closest.ts", "yaml"],
  "src/cli": [
    "src/client",
    "src/explain",
    "src/domain",
    "src/scheduler/wording.ts",
    // How the wire spells a job and a decision, for documents read from a store whose router is gone.
    "src/http/decision-wire.ts",
    "src/http/receipt.ts",
    "src/http/status-words.ts",
    "src/config",
    "src/backends",
    "src/simulator",
    "src/store",
    "src/webhooks",
    "src/system",
    "src/discovery",
    "src/llama-swap",
    "src/assemble.ts",
    "citty",
    "node:",
  ],
  "src/cli.ts": ["src/cli", "node:"],
  "src/index.ts": [EVERYTHING],
  "src/assemble.ts": [EVERYTHING],
};

/** May import any folder, except these. */
const NOT_FOR_ASSEMBLY = ["src/simulator", "src/cli", "src/cli.ts"];

const MAX_LINES = 300;

interface Ban {
  readonly pattern: RegExp;
  readonly why: string;
  /** Paths that may. */
  readonly except: readonly string[];
}

const BANS: readonly Ban[] = [
  {
    pattern:
      /\bDate\.now\b|\bnew Date\(\s*\)|\bMath\.random\b|(?<!\.)\bset(?:Timeout|Interval)\b|\bcrypto\.random|\brandom(?:UUID|Bytes|FillSync)\b/,
    why: "time and chance come from Clock and IdSource, so that a run can be repeated; the real ones are in src/system",
    // The client has nobody to be given a clock by; its own platform.ts is its src/system.
    except: ["src/system", "src/client/platform.ts"],
  },
  {
    pattern: /\bprocess\.(?!pid\b)/,
    why: "only the command line knows the process",
    except: ["src/cli", "src/cli.ts", "src/system"],
  },
  { pattern: /\bconsole\./, why: "only the command line prints", except: ["src/cli", "src/cli.ts"] },
];

const DASHBOARD_BANS: readonly Ban[] = [
  {
    pattern: /\bDate\.now\b|\bnew Date\(\s*\)/,
    why: "the page goes by the router's clock, dashboard/src/clock.ts: the browser's own may be hours off",
    except: [],
  },
  { pattern: /\b(?:inner|outer)HTML\b|\bdangerouslySetInnerHTML\b/, why: "names are text, never markup", except: [] },
  {
    pattern: /\bsetAttribute\b|\bstyle=(?!\{)/,
    why: "the content security policy refuses style attributes; use a style object",
    except: [],
  },
];

const BANNED_FILE = /^(utils?|helpers?|common|shared|misc|manager|service|handler|types|interfaces|constants|index)$/;
/** The public entry points have to be called so. */
const INDEX_FILES = ["src/index.ts", "src/client/index.ts"];
const DECLARED = /\b(?:function\*?|class|interface|type|enum|const|let)\s+([A-Za-z_$][\w$]*)/g;
const BANNED_LAST_WORD = /(?:^|[a-z0-9_$])(?:[Uu]tils?|[Hh]elpers?|[Mm]anager|[Ss]ervice|[Hh]andler|[Mm]isc)$/;
const FOREIGN =
  /\/work\/|\/home\/|\/Users\/|\bproduct\.md\b|\bhttp-contract\b|\boperators\.md\b|\bstore\.md\b|\bscheduling\.md\b|\bscale-out\.md\b|\bsir-original\b/;

const under = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`);

/** The row of the table for a file: the longest key that contains it. */
function rowOf(path: string): string | null {
  const keys = Object.keys(ALLOWED).filter((key) => under(path, key));
  return keys.sort((a, b) => b.length - a.length)[0] ?? null;
}

function isAllowed(row: string, target: string): boolean {
  if (under(target, row)) return true;
  const allowed = ALLOWED[row] ?? [];
  if (allowed.includes(EVERYTHING)) return !NOT_FOR_ASSEMBLY.some((each) => under(target, each));
  return allowed.some((each) => (each === "node:" ? target.startsWith("node:") : under(target, each)));
}

function importProblems({ path, text }: SourceFile): string[] {
  const row = rowOf(path);
  if (row === null) return [`${path}: its folder is not in the table of ${"test/map/rules.ts"}`];
  return importsOf(text).flatMap((specifier) => {
    const relative = specifier.startsWith(".");
    const target = relative ? posix.normalize(posix.join(posix.dirname(path), specifier)) : specifier;
    if (relative && !/\.(tsx?|json|css)$/.test(target)) return [`${path}: imports ${specifier} without its extension`];
    return isAllowed(row, target) ? [] : [`${path}: must not import ${target}`];
  });
}

function banProblems({ path, text }: SourceFile, bans = BANS): string[] {
  const code = codeOnly(text);
  return bans.flatMap(({ pattern, why, except }) => {
    if (except.some((each) => under(path, each))) return [];
    const found = pattern.exec(code);
    if (found === null) return [];
    return [`${path}:${code.slice(0, found.index).split("\n").length}: ${found[0].trim()} (${why})`];
  });
}

/** What holds for sources and tests alike. */
export function formProblems({ path, text }: SourceFile): string[] {
  const problems: string[] = [];
  const lines = text.split("\n").length - 1;
  if (lines > MAX_LINES) problems.push(`${path}: ${lines} lines, more than ${MAX_LINES}`);
  // A test says what it is for in its names.
  const silent = !path.endsWith(".test.ts") && !text.replace(/^#!.*\n/, "").startsWith("//");
  if (silent) problems.push(`${path}: does not begin by saying what it is for`);
  const base = posix.basename(path).replace(/\.[a-z.]+$/, "");
  if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(base)) problems.push(`${path}: its name is not kebab-case`);
  if (BANNED_FILE.test(base) && !INDEX_FILES.includes(path)) problems.push(`${path}: "${base}" says nothing`);
  for (const [, name = ""] of codeOnly(text).matchAll(DECLARED)) {
    if (BANNED_LAST_WORD.test(name)) problems.push(`${path}: the name ${name} says nothing`);
  }
  const foreign = FOREIGN.exec(text);
  if (foreign !== null) problems.push(`${path}: mentions ${foreign[0]}, which is not part of the project`);
  return problems;
}

/** Everything that is wrong with sources under `src/`. */
export function sourceProblems(files: readonly SourceFile[]): string[] {
  return files.flatMap((file) => [...importProblems(file), ...banProblems(file), ...formProblems(file)]);
}

/** Everything that is wrong with a file under `dashboard/`. */
export function dashboardProblems(file: SourceFile): string[] {
  return [...importProblems(file), ...banProblems(file, DASHBOARD_BANS), ...formProblems(file)];
}
