// What an import is made of while it is being made: models as they will be written, names that are taken, and the values
// that stand above all models.

import type { Written } from "../config/config-text.ts";
import type { Ledger } from "./ledger.ts";
import type { Section } from "./source.ts";

export interface ModelDraft {
  readonly name: string;
  label: string | null;
  readonly aliases: string[];
  upstreamName: string | null;
  concurrency: number;
  /** 1: it takes a place beside others; null: it has the device for itself. */
  memoryGiB: number | null;
  pinned: boolean;
  preload: boolean;
  unloadAfterSeconds: number | null;
  loadTimeoutSeconds: number | null;
  firstByteTimeoutSeconds: number | null;
  /** Comment lines before it. */
  readonly notes: string[];
  readonly backend: Readonly<Record<string, Written | undefined>>;
  readonly usesDevice: boolean;
}

export interface Defaults {
  readonly ttlSeconds: number;
  readonly loadTimeoutSeconds: number | null;
  readonly stopGraceSeconds: number | null;
}

const MOST_ALIASES = 100;

/** As the configuration takes them: something visible at both ends, nothing that controls. */
export function isName(text: string): boolean {
  return text.length <= 256 && /^\S(.*\S)?$/u.test(text) && /^\P{Cc}*$/u.test(text);
}

export class Draft {
  readonly root: Section;
  readonly ledger: Ledger;
  readonly models = new Map<string, ModelDraft>();
  /** Said at the end, about what is not in the file and yet different. */
  readonly remarks: string[] = [];
  usesEnvironment = false;
  readonly scheduler: Record<string, Written> = {};
  logLevel: string | null = null;
  places = 1;
  readonly #names = new Set<string>();

  constructor(root: Section, ledger: Ledger) {
    this.root = root;
    this.ledger = ledger;
    // An id goes before an alias, wherever it stands.
    for (const id of root.below("models").fields.keys()) this.#names.add(id);
  }

  add(model: ModelDraft): void {
    this.models.set(model.name, model);
    this.#names.add(model.name);
  }

  isTaken(name: string): boolean {
    return this.#names.has(name);
  }

  /** False: the name belongs to another already, or is none that may be written. */
  alias(model: ModelDraft, name: string): boolean {
    if (name === model.name || model.aliases.includes(name)) return true;
    if (this.#names.has(name) || !isName(name) || model.aliases.length >= MOST_ALIASES) return false;
    this.#names.add(name);
    model.aliases.push(name);
    return true;
  }

  /** By its id or another of its names. */
  find(name: string): ModelDraft | undefined {
    return this.models.get(name) ?? [...this.models.values()].find(({ aliases }) => aliases.includes(name));
  }
}

export function blankModel(name: string, backend: ModelDraft["backend"], usesDevice: boolean): ModelDraft {
  return {
    ...{ name, backend, usesDevice, label: null, aliases: [], upstreamName: null, concurrency: 10, memoryGiB: null },
    ...{ pinned: false, preload: false, unloadAfterSeconds: null, loadTimeoutSeconds: null },
    ...{ firstByteTimeoutSeconds: null, notes: [] },
  };
}
