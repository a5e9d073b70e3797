// `GET /docs`: the OpenAPI document as one page of plain HTML. It loads nothing, from nowhere: no script, no font, no CDN.

import { createHash } from "node:crypto";
import { type ApiDocument, type Operation, outlineOf, type Shape } from "./api-outline.ts";

const STYLE = `
:root{color-scheme:light dark;--line:light-dark(#d5d7dc,#3a3d45);--soft:light-dark(#5b6070,#a4a9b6);--mark:light-dark(#1f4fbf,#8fb0ff)}
body{font:16px/1.5 system-ui,sans-serif;margin:0 auto;max-width:60rem;padding:1rem}
code{font:.9em ui-monospace,monospace;overflow-wrap:anywhere}
h2{margin-top:2.5rem;border-bottom:1px solid var(--line)}
a{color:var(--mark)}
details{border:1px solid var(--line);border-radius:.4rem;margin:.4rem 0;padding:.2rem .8rem}
summary{cursor:pointer;padding:.4rem 0}
summary b{display:inline-block;min-width:4.5rem}
summary span{color:var(--soft)}
table{border-collapse:collapse;width:100%;margin:.4rem 0 1rem}
td,th{border-top:1px solid var(--line);padding:.25rem .6rem .25rem 0;text-align:left;vertical-align:top}
nav ul{columns:3 12rem;padding-left:1.2rem}`;

const STYLE_HASH = createHash("sha256").update(STYLE).digest("base64");

export const API_PAGE_HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; base-uri 'none'; frame-ancestors 'none'`,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cache-control": "no-cache",
};

export function apiPage(document: ApiDocument): string {
  const { tags, shapes } = outlineOf(document);
  const known = new Set(shapes.map(({ name }) => name));
  const links = tags.map(({ tag }) => `<li><a href="#${tag}">${text(tag)}</a></li>`);
  return [
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">`,
    `<title>${text(document.info.title)} API</title><style>${STYLE}</style></head><body>`,
    `<h1>${text(document.info.title)} ${text(document.info.version)}: its HTTP routes</h1>`,
    "<p>Errors are <code>{&quot;error&quot;:{message,type,param,code}}</code> everywhere. Made from ",
    `<a href="openapi.json">openapi.json</a>.</p>`,
    `<nav aria-label="Sections"><ul>${links.join("")}<li><a href="#shapes">shapes</a></li></ul></nav><main>`,
    ...tags.map(({ tag, operations }) => section(tag, operations, known)),
    `<h2 id="shapes">shapes</h2>${shapes.map((shape) => shapeBlock(shape, known)).join("")}</main></body></html>`,
  ].join("\n");
}

function section(tag: string, operations: readonly Operation[], known: ReadonlySet<string>): string {
  return `<h2 id="${text(tag)}">${text(tag)}</h2>${operations.map((each) => operationBlock(each, known)).join("")}`;
}

function operationBlock(operation: Operation, known: ReadonlySet<string>): string {
  const { method, path, summary, parameters, takes, answers } = operation;
  const rows = parameters.map(({ name, where, type, text: words }) => [
    code(name),
    text(where),
    typed(type, known),
    text(words),
  ]);
  return [
    `<details><summary><b>${method}</b> <code>${text(path)}</code> <span>${text(summary)}</span></summary>`,
    rows.length === 0 ? "" : grid(["parameter", "in", "type", "meaning"], rows),
    takes.length === 0 ? "" : `<p>Takes ${takes.map((each) => typed(each, known)).join(" or ")}.</p>`,
    grid(
      ["status", "answer", "shape"],
      answers.map(({ status, text: words, shape }) => [text(status), text(words), typed(shape, known)]),
    ),
    "</details>",
  ].join("");
}

function shapeBlock({ name, keys }: Shape, known: ReadonlySet<string>): string {
  const rows = keys.map((key) => [code(key.name), typed(key.type, known), text(key.text)]);
  return `<h3 id="shape-${text(name)}">${text(name)}</h3>${grid(["key", "type", "meaning"], rows)}`;
}

/** @param rows Of HTML already. */
function grid(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[], tag: string): string =>
    `<tr>${cells.map((each) => `<${tag}>${each}</${tag}>`).join("")}</tr>`;
  return `<table>${line(head, "th")}${rows.map((cells) => line(cells, "td")).join("")}</table>`;
}

/** A type in words, with known shapes as links. */
function typed(type: string, known: ReadonlySet<string>): string {
  return text(type).replaceAll(/\b[A-Z]\w+\b/g, (name) =>
    known.has(name) ? `<a href="#shape-${name}">${name}</a>` : name,
  );
}

const code = (words: string): string => `<code>${text(words)}</code>`;

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

const text = (words: string): string => words.replaceAll(/[&<>"]/g, (sign) => ENTITIES[sign] ?? sign);
