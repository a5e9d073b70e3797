// The dashboard's files, read once and kept: named by their content, so that a browser may keep them for ever; the page
// itself is asked for anew each time. What a path names is looked up among them, never on the disk.

import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { Hono } from "hono";
import { SirError } from "../domain/errors.ts";
import type { Call, HttpEnv } from "./deps.ts";
import type { Paths } from "./route.ts";

interface PageFile {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly gzipped: Uint8Array<ArrayBuffer>;
  readonly headers: Readonly<Record<string, string>>;
}

const TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
};

const BASE = "/dashboard";
const INDEX = "index.html";
const KEEP = "public, max-age=31536000, immutable";
const ASK_AGAIN = "no-cache";

/** The same for the sources in `src` and for what was built of them in `dist`. */
const BUILT = fileURLToPath(new URL("../../dist/dashboard/", import.meta.url));

/** @param folder Where the built page lies. */
export function mountDashboard(app: Hono<HttpEnv>, paths: Paths, folder = BUILT): void {
  const read = once(() => readFiles(folder));
  const mount = (path: string, handle: (c: Call) => Response | Promise<Response>): void => {
    paths.add("GET", path);
    app.get(path, (c) => {
      c.set("route", path);
      return handle(c);
    });
  };
  // Relative, because a proxy may have put something in front of the path.
  mount(BASE, () => new Response(null, { status: 308, headers: { location: "dashboard/" } }));
  mount("/", (c) => {
    if (!isBrowser(c)) throw new SirError("route_not_found", `The dashboard begins at ${BASE}/, the API at /v1.`);
    return new Response(null, { status: 302, headers: { location: "dashboard/" } });
  });
  mount(`${BASE}/*`, async (c) => {
    const files = await read();
    const name = c.req.path.slice(BASE.length + 1) || INDEX;
    const file = files.get(name);
    if (file !== undefined) return answer(c, file);
    if (files.size === 0) return notBuilt();
    // Somebody typed a page's name as a path.
    if (isBrowser(c) && extname(name) === "") {
      const up = "../".repeat(name.split("/").length - 1) || "./";
      return new Response(null, { status: 302, headers: { location: `${up}#/${name}` } });
    }
    throw new SirError("route_not_found", `The dashboard has no file ${name}. It begins at ${BASE}/.`);
  });
}

/** Asks for a page, where programs ask for JSON or for anything. */
function isBrowser(c: Call): boolean {
  return c.req.raw.headers.get("accept")?.includes("text/html") === true;
}

function answer(c: Call, { bytes, gzipped, headers }: PageFile): Response {
  const zipped = /\bgzip\b(?!;\s*q=0(\D|$))/.test(c.req.raw.headers.get("accept-encoding") ?? "");
  return new Response(zipped ? gzipped : bytes, {
    headers: zipped ? { ...headers, "content-encoding": "gzip" } : headers,
  });
}

async function readFiles(folder: string): Promise<ReadonlyMap<string, PageFile>> {
  const files = new Map<string, PageFile>();
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const index = await readFile(join(folder, INDEX), "utf8").catch(() => "");
  if (index === "") return files;
  const policy = contentPolicy(index);
  for (const entry of entries.filter((each) => each.isFile())) {
    const path = join(entry.parentPath, entry.name);
    const name = path.slice(join(folder, "/").length).replaceAll("\\", "/");
    const bytes = Uint8Array.from(await readFile(path));
    const headers = fileHeaders(name, policy);
    files.set(name, { bytes, gzipped: Uint8Array.from(await promisify(gzip)(bytes)), headers });
  }
  return files;
}

function fileHeaders(name: string, policy: string): Record<string, string> {
  return {
    "cache-control": name === INDEX ? ASK_AGAIN : KEEP,
    "content-security-policy": policy,
    "content-type": TYPES[extname(name)] ?? "application/octet-stream",
    "cross-origin-opener-policy": "same-origin",
    "referrer-policy": "no-referrer",
    vary: "accept-encoding",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
  };
}

/** Nothing but the router's own files; of scripts in the page only those that it was built with, by their hashes. */
function contentPolicy(index: string): string {
  const inline = [...index.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(([, script = ""]) => script);
  const hashes = inline.map((script) => `'sha256-${createHash("sha256").update(script).digest("base64")}'`);
  return [
    "default-src 'self'",
    ["script-src 'self'", ...hashes].join(" "),
    "img-src 'self' data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "object-src 'none'",
  ].join("; ");
}

function notBuilt(): Response {
  const page = `<!doctype html><meta charset="utf-8"><title>SIR</title>
<h1>The dashboard is not built</h1>
<p>This router runs from a copy without it. Run <code>npm run build</code> in its folder and start it again.
Until then: <code>npx sir status</code>, <code>npx sir top</code>, <code>npx sir explain JOB</code>.</p>
`;
  return new Response(page, { status: 503, headers: { "content-type": "text/html; charset=utf-8" } });
}

/** The first call's result for all; a failed one is tried again. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = null;
      throw error;
    });
    return made;
  };
}
