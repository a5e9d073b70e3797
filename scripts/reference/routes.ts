// The page on HTTP: every operation and shape of the OpenAPI document.

import { type ApiDocument, type Operation, outlineOf } from "../../src/http/api-outline.ts";
import { createApp } from "../../src/http/app.ts";
import type { HttpDeps } from "../../src/http/deps.ts";
import { code, heading, table } from "./table.ts";

const INTRO = `Made from \`GET /openapi.json\`; a running router shows the same at \`GET /docs\`. Instants are Unix seconds and durations seconds
with fractions, unless a name ends in \`_ms\`. Errors are in [errors.md](errors.md). Inference routes take and give the engine's
own bytes.`;

/** Only asked to describe itself: what it works with is never touched. */
async function documentOf(): Promise<ApiDocument> {
  const clock = { nowMs: () => 0, wallMs: () => 0 };
  const app = createApp({ clock, ids: { next: () => "req_0" } } as unknown as HttpDeps);
  return (await (await app.request("/openapi.json")).json()) as ApiDocument;
}

export async function routesPage(): Promise<string> {
  const { tags, shapes } = outlineOf(await documentOf());
  const sections = tags.map(({ tag, operations }) => tagSection(tag, operations));
  const described = shapes.map(({ name, keys }) => {
    const rows = keys.map((key) => [code(key.name), key.type, key.text]);
    return `### ${name}\n\n${table(["key", "type", "meaning"], rows)}`;
  });
  return `${heading("HTTP", INTRO)}\n${[...sections, "## Shapes", ...described].join("\n\n")}\n`;
}

/** What every operation of a tag takes is said once. */
function tagSection(tag: string, operations: readonly Operation[]): string {
  const names = (operation: Operation): string[] => operation.parameters.map(({ name }) => name);
  const everywhere = names(operations[0] as Operation).filter(
    (name) => operations.length > 2 && operations.every((each) => names(each).includes(name)),
  );
  const rows = operations.map(({ method, path, summary, parameters, answers }) => [
    code(`${method} ${path}`),
    summary,
    parameters
      .filter(({ name }) => !everywhere.includes(name))
      .map(({ name, text }) => `${code(name)}${text === "" ? "" : ` ${text}`}`)
      .join("; "),
    answers.map(({ status, shape }) => `${status}${shape === "" ? "" : ` ${shape}`}`).join("; "),
  ]);
  const same = (operations[0] as Operation).parameters.filter(({ name }) => everywhere.includes(name));
  const list = same.map(({ name, where, text }) => `- ${code(name)} (${where})${text === "" ? "" : `: ${text}`}`);
  const intro = list.length === 0 ? "" : `All of them take:\n\n${list.join("\n")}\n\n`;
  return `## ${tag}\n\n${intro}${table(["route", "does", "parameters", "answers"], rows)}`;
}
