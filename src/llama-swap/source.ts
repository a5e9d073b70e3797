// llama-swap's configuration as it lies in its file: every setting with its path, its line and its value, and a ledger
// that knows what became of each. A setting is a key whose value is not a section of further keys.

import { isAlias, isMap, isNode, isScalar, LineCounter, type Node, type Pair, parseDocument, type YAMLMap } from "yaml";

export type Path = readonly string[];

/** One key. Its value is a section when it holds further keys. */
export interface Field {
  readonly path: Path;
  readonly line: number;
  /** As YAML has it; null of a section. */
  readonly value: unknown;
  readonly section: Section | null;
}

export class Section {
  readonly path: Path;
  readonly fields: ReadonlyMap<string, Field>;

  constructor(path: Path, fields: ReadonlyMap<string, Field>) {
    this.path = path;
    this.fields = fields;
  }

  get(key: string): Field | undefined {
    return this.fields.get(key);
  }

  /** Empty when it is not there or holds no keys. */
  below(key: string): Section {
    return this.get(key)?.section ?? new Section([...this.path, key], new Map());
  }
}

export class SourceError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "SourceError";
  }
}

/** Anchors that hold anchors can grow without end. */
const MOST_KEYS = 50_000;

export interface Source {
  readonly root: Section;
  /** All settings, in the order of the file. */
  readonly settings: readonly Field[];
  /** Top-level keys that are there only for an anchor that is used elsewhere. */
  readonly anchors: readonly Field[];
}

/** @throws {SourceError} with the line, when it is no YAML or no map */
export function readSource(text: string): Source {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, merge: true });
  const [fault] = document.errors;
  if (fault !== undefined) {
    const line = lines.linePos(fault.pos[0]).line;
    throw new SourceError(
      `line ${line}: ${(fault.message.split("\n")[0] ?? "").replace(/ at line \d+, column \d+:?$/, "")}`,
    );
  }
  if (!isMap(document.contents)) throw new SourceError("it holds no keys");
  const reading: Reading = { lines, document, anchored: new Set(), keys: 0 };
  const root = sectionOf(document.contents, [], reading, new Set());
  const anchors = [...root.fields.values()].filter(({ path }) => reading.anchored.has(path.join("\0")));
  return { root, settings: settingsOf(root), anchors };
}

interface Reading {
  readonly lines: LineCounter;
  readonly document: ReturnType<typeof parseDocument>;
  /** Paths whose value carries an anchor. */
  readonly anchored: Set<string>;
  keys: number;
}

/** `open` are the maps that are being read: an alias to one of them would have no end. */
function sectionOf(map: YAMLMap, path: Path, reading: Reading, open: ReadonlySet<unknown>): Section {
  if (open.has(map)) throw new SourceError(`${path.join(".")} holds itself`);
  const within = new Set([...open, map]);
  const fields = new Map<string, Field>();
  const merged: Field[] = [];
  for (const pair of map.items) {
    const key = isScalar(pair.key) ? (pair.key.source ?? String(pair.key.value)) : String(pair.key);
    if (key === "<<") merged.push(...mergedFields(pair, path, reading, within));
    else fields.set(key, fieldOf(pair, key, path, reading, within));
  }
  for (const field of merged) {
    const key = field.path.at(-1) ?? "";
    if (!fields.has(key)) fields.set(key, field);
  }
  return new Section(path, fields);
}

function fieldOf(pair: Pair, key: string, parent: Path, reading: Reading, open: ReadonlySet<unknown>): Field {
  if (++reading.keys > MOST_KEYS) throw new SourceError(`it has more than ${MOST_KEYS} keys`);
  const path = [...parent, key];
  const value = isAlias(pair.value) ? pair.value.resolve(reading.document) : pair.value;
  if (!isAlias(pair.value) && (isMap(value) || isScalar(value)) && value.anchor !== undefined) {
    reading.anchored.add(path.join("\0"));
  }
  const section = isMap(value) && value.items.length > 0 ? sectionOf(value, path, reading, open) : null;
  const plain: unknown = isNode(value) && section === null ? plainOf(value, reading) : null;
  return { path, line: lineOf(pair, reading), value: plain, section };
}

function plainOf(value: Node, { document, lines }: Reading): unknown {
  try {
    return value.toJS(document);
  } catch {
    const at = value.range === null || value.range === undefined ? "" : `line ${lines.linePos(value.range[0]).line}: `;
    throw new SourceError(`${at}its anchors hold too much`);
  }
}

function mergedFields(pair: Pair, path: Path, reading: Reading, open: ReadonlySet<unknown>): Field[] {
  const given = isAlias(pair.value) ? [pair.value] : itemsOf(pair.value);
  return given.flatMap((each) => {
    const map = isAlias(each) ? each.resolve(reading.document) : each;
    return isMap(map) ? [...sectionOf(map, path, reading, open).fields.values()] : [];
  });
}

function itemsOf(value: unknown): readonly unknown[] {
  if (isMap(value)) return [value];
  return typeof value === "object" && value !== null && "items" in value && Array.isArray(value.items)
    ? value.items
    : [];
}

function lineOf({ key }: Pair, { lines }: Reading): number {
  const range = isScalar(key) ? key.range : null;
  return range === null || range === undefined ? 0 : lines.linePos(range[0]).line;
}

function settingsOf(section: Section): Field[] {
  return [...section.fields.values()].flatMap((field) =>
    field.section === null ? [field] : settingsOf(field.section),
  );
}
