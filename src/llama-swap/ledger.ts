// What became of each setting: carried as it was, changed in meaning, or left out. A setting that nobody spoke for is
// unknown and left out: nothing is dropped in silence.

import type { Field, Path, Source } from "./source.ts";

export interface Finding {
  readonly line: number;
  /** As one would write it: `models.gpt-oss-120b.filters.setParams`. */
  readonly path: string;
  /** What it became, or why it did not, and what to do. */
  readonly text: string;
  /** Settings that this stands for. */
  readonly settings: number;
}

export interface Account {
  /** Settings in the file. */
  readonly read: number;
  readonly carried: number;
  readonly changed: readonly Finding[];
  readonly leftOut: readonly Finding[];
}

type Verdict = "carried" | "changed" | "leftOut";

const pathText = (path: Path): string => path.join(".");

export class Ledger {
  readonly #source: Source;
  readonly #verdicts = new Map<string, Verdict>();
  readonly #words: { verdict: "changed" | "leftOut"; field: Field; text: string; settings: number }[] = [];

  constructor(source: Source) {
    this.#source = source;
  }

  carry(field: Field | undefined): void {
    if (field !== undefined) this.#judge(field, "carried");
  }

  change(field: Field, text: string): void {
    this.#words.push({ verdict: "changed", field, text, settings: this.#judge(field, "changed") });
  }

  leave(field: Field, text: string): void {
    this.#words.push({ verdict: "leftOut", field, text, settings: this.#judge(field, "leftOut") });
  }

  /** @param known the keys that llama-swap has at a path, for did-you-mean */
  close(near: (path: Path) => string | null): Account {
    for (const anchor of this.#source.anchors) if (anchor.path[0] !== "models") this.carry(anchor);
    for (const field of this.#source.settings) {
      if (this.#verdicts.has(keyOf(field.path))) continue;
      const known = near(field.path);
      this.leave(
        field,
        `is no key of llama-swap that is known here.${known === null ? "" : ` Did you mean ${known}?`}`,
      );
    }
    const counted = (verdict: Verdict): number =>
      this.#source.settings.filter(({ path }) => this.#verdicts.get(keyOf(path)) === verdict).length;
    return {
      read: this.#source.settings.length,
      carried: counted("carried"),
      changed: this.#findings("changed"),
      leftOut: this.#findings("leftOut"),
    };
  }

  /** The first word on a setting holds. */
  #judge(field: Field, verdict: Verdict): number {
    if (field.section === null) {
      const key = keyOf(field.path);
      if (this.#verdicts.has(key)) return 0;
      this.#verdicts.set(key, verdict);
      return 1;
    }
    return [...field.section.fields.values()].reduce((sum, each) => sum + this.#judge(each, verdict), 0);
  }

  #findings(verdict: "changed" | "leftOut"): Finding[] {
    return this.#words
      .filter((each) => each.verdict === verdict && each.settings > 0)
      .map(({ field, text, settings }) => ({ line: field.line, path: pathText(field.path), text, settings }))
      .sort((a, b) => a.line - b.line);
  }
}

const keyOf = (path: Path): string => path.join("\0");
