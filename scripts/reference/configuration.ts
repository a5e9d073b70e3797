// The page on the configuration: every key of the JSON Schema with its type, default and sentence.

import { configJsonSchema } from "../../src/config/json-schema.ts";
import { code, heading, table } from "./table.ts";

interface Node {
  readonly description?: string;
  readonly default?: unknown;
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Node[];
  readonly oneOf?: readonly Node[];
  readonly items?: Node;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly additionalProperties?: Node | boolean;
  readonly required?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
}

const INTRO = `\`sir.config.ts\` (or \`.js\`, \`.mjs\`, \`.json\`) in the working directory, or \`--config\`, or \`SIR_CONFIG\`. An unknown key is an
error with a guess at the right one. Durations end in \`Seconds\` and may have fractions, sizes in \`GiB\` or \`Bytes\`; paths are
relative to the file. \`SIR_HOST\`, \`SIR_PORT\`, \`SIR_STORE\` and \`SIR_LOG_LEVEL\` lie over the file, flags over both. \`npx sir doctor\`
prints every value in force and where it came from; \`npx sir config schema\` prints this page as JSON Schema, for editors.
SIGHUP re-reads the file: models, keys and the scheduler's settings change at once, the rest at the next start.`;

export function configurationPage(): string {
  const schema = configJsonSchema() as Node;
  const parts = Object.entries(schema.properties ?? {}).map(([name, node]) => section(name, node));
  return `${heading("Configuration", INTRO)}\n${parts.join("\n\n")}\n`;
}

function section(name: string, node: Node): string {
  const inner = innerOf(node);
  const title = inner.by === "" ? code(name) : `${code(name)}: ${inner.by}`;
  const required = new Set(inner.node.required ?? []);
  const keys = Object.entries(inner.node.properties ?? {});
  const backend = keys.find(([key]) => key === "backend")?.[1];
  const rows = keys.flatMap(([key, each]) => rowsOf(key, each, required.has(key)));
  const drivers = (backend?.oneOf ?? []).map(driverSection);
  return [`## ${title}`, node.description ?? "", table(["key", "value", "default", "meaning"], rows), ...drivers].join(
    "\n\n",
  );
}

/** What holds the keys: the section, each entry of a record, or each item of a list. */
function innerOf(node: Node): { readonly node: Node; readonly by: string } {
  if (typeof node.additionalProperties === "object") return { node: node.additionalProperties, by: "a record by name" };
  if (node.items !== undefined) return { node: node.items, by: "a list" };
  return { node, by: "" };
}

function driverSection(node: Node): string {
  const required = new Set(node.required ?? []);
  const options = Object.entries(node.properties ?? {}).filter(([key]) => key !== "driver");
  const rows = options.flatMap(([key, each]) => rowsOf(key, each, required.has(key)));
  const name = String(node.properties?.["driver"]?.const);
  return `### \`backend\` with \`driver: "${name}"\`\n\n${table(["key", "value", "default", "meaning"], rows)}`;
}

/** A key, and below it those of an object that is its value. */
function rowsOf(key: string, node: Node, required: boolean): string[][] {
  const own = [code(key), kindOf(node), required ? "required" : defaultOf(node), node.description ?? ""];
  const object = [node, ...(node.anyOf ?? [])].find(({ properties }) => properties !== undefined);
  if (object === undefined || key === "backend") return [own];
  const inner = new Set(object.required ?? []);
  const below = Object.entries(object.properties ?? {}).flatMap(([name, each]) =>
    rowsOf(`${key}.${name}`, each, inner.has(name)),
  );
  return [own, ...below];
}

function defaultOf(node: Node): string {
  return node.default === undefined ? "absent" : code(JSON.stringify(node.default));
}

function kindOf(node: Node): string {
  if (node.const !== undefined) return code(JSON.stringify(node.const));
  if (node.enum !== undefined) return node.enum.map((each) => code(String(each))).join(", ");
  const choices = node.anyOf ?? node.oneOf;
  if (choices !== undefined && node.properties === undefined && !choices.some((each) => each.properties)) {
    return [...new Set(choices.map(kindOf))].join(" or ");
  }
  if (node.type === "array") return `list of ${node.items === undefined ? "anything" : kindOf(node.items)}`;
  if (node.type === "object" || choices !== undefined) return "object";
  if (node.type === "integer" || node.type === "number") return numberOf(node);
  return node.type === "null" ? "`null`" : (node.type ?? "anything");
}

/** Bounds that tell something; the largest representable ones do not. */
function numberOf({ type, minimum, maximum, exclusiveMinimum }: Node): string {
  const word = type === "integer" ? "whole number" : "number";
  const low =
    exclusiveMinimum !== undefined ? `over ${exclusiveMinimum}` : minimum === undefined ? "" : `from ${minimum}`;
  const high = maximum === undefined || maximum >= 315_360_000 ? "" : `to ${maximum}`;
  return [word, low, high].filter((each) => each !== "").join(" ");
}
