// Writes a configuration as a person would: TypeScript, formatted, with a comment where something has to be said. Used by
// what makes configurations: `sir init` and `sir import`.

const WIDTH = 120;
const COMMENT_WIDTH = 100;
/** What a line of comment begins with that a person should look at. */
export const GUESS = "GUESS";

/** Code that stands in the file as it is. */
export class Code {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type Written = string | number | boolean | null | Code | readonly Written[] | Block;

export interface Entry {
  readonly key: string;
  readonly value: Written;
  /** Comment lines before it. */
  readonly notes: readonly string[];
}

export class Block {
  readonly entries: readonly Entry[];

  constructor(entries: readonly Entry[]) {
    this.entries = entries;
  }
}

export function entry(key: string, value: Written, ...notes: readonly string[]): Entry {
  return { key, value, notes };
}

/** An object without comments, in the order in which it was written down. */
export function block(values: Readonly<Record<string, Written | undefined>>): Block {
  const given = Object.entries(values).filter((pair): pair is [string, Written] => pair[1] !== undefined);
  return new Block(given.map(([key, value]) => entry(key, value)));
}

export interface ConfigText {
  /** Comment lines at the top. */
  readonly head: readonly string[];
  /** Code between the import and the configuration. */
  readonly prelude?: readonly string[];
  readonly sections: readonly Entry[];
}

export function configText({ head, prelude = [], sections }: ConfigText): string {
  const lines = [
    ...head.flatMap((text) => comment(text, "")),
    "",
    'import { defineConfig } from "sir-router";',
    "",
    ...(prelude.length === 0 ? [] : [...prelude, ""]),
    `export default defineConfig(${written(new Block(sections), "", "export default defineConfig(".length + 2, true)});`,
  ];
  return `${lines.join("\n")}\n`;
}

/** @param taken columns on the line that its first character and what follows it do not have */
function written(value: Written, indent: string, taken: number, spread = false): string {
  if (value instanceof Code) return value.text;
  if (value instanceof Block) return blockText(value, indent, taken, spread);
  if (typeof value === "string") return quoted(value);
  if (typeof value === "object" && value !== null) return listText(value, indent, taken);
  return String(value);
}

function listText(list: readonly Written[], indent: string, taken: number): string {
  const flat = `[${list.map((each) => written(each, indent, 0)).join(", ")}]`;
  // The formatter breaks lists of several lists, however short.
  const lists = list.length > 1 && list.every((each) => Array.isArray(each) && each.length > 1);
  if (!lists && !flat.includes("\n") && taken + flat.length <= WIDTH) return flat;
  const deeper = `${indent}  `;
  const lines = list.map((each) => `${deeper}${written(each, deeper, deeper.length + 1)},`);
  return ["[", ...lines, `${indent}]`].join("\n");
}

function blockText({ entries }: Block, indent: string, taken: number, spread: boolean): string {
  if (entries.length === 0) return "{}";
  const plain = entries.every(({ notes, value }) => notes.length === 0 && !(value instanceof Block));
  if (plain && !spread) {
    const flat = `{ ${entries.map(({ key, value }) => `${keyText(key)}: ${written(value, indent, 0)}`).join(", ")} }`;
    if (!flat.includes("\n") && taken + flat.length <= WIDTH) return flat;
  }
  const deeper = `${indent}  `;
  const lines = entries.flatMap(({ key, value, notes }) => {
    const name = `${deeper}${keyText(key)}: `;
    const inside = value instanceof Block && spread;
    return [
      ...notes.flatMap((text) => comment(text, deeper)),
      `${name}${written(value, deeper, name.length + 1, inside && holdsBlocks(value))},`,
    ];
  });
  return ["{", ...lines, `${indent}}`].join("\n");
}

/** Devices and models stand one below the other, also when there is one. */
const holdsBlocks = (value: Block): boolean => value.entries.some((each) => each.value instanceof Block);

function comment(text: string, indent: string): string[] {
  const room = COMMENT_WIDTH - indent.length - 3;
  const lines: string[] = [];
  let line = "";
  for (const word of text.replaceAll(/\s+/g, " ").trim().split(" ")) {
    if (line !== "" && line.length + 1 + word.length > room) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line].map((each) => `${indent}// ${each}`.trimEnd());
}

const PLAIN_KEY = /^[A-Za-z_$][\w$]*$/;

const keyText = (key: string): string => (PLAIN_KEY.test(key) ? key : quoted(key));

/** Double quotes, unless single ones spare a backslash. */
function quoted(text: string): string {
  const double = text.split('"').length;
  const single = text.split("'").length;
  const plain = JSON.stringify(text);
  if (double <= single) return plain;
  return `'${plain.slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
}
