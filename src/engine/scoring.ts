// First estimates that somebody was told, kept until what they were of has come, and what their outcomes teach the next
// one. One for answers, one for starts: they are off in different ways.

import { BANDS, type Band } from "../domain/band.ts";
import type { JobId } from "../domain/ids.ts";
import { Calibration, type Spread } from "./calibration.ts";
import { fieldsIn, listIn } from "./note.ts";

/** What starts so soon starts at once. */
const AT_ONCE_MS = 250;
/** Between two estimates of about one size whose outcomes count. */
const APART_MS = 15_000;
const LATE_MS = 300_000;
const SIZES_PER_DOUBLING = 2;
/** First estimates that wait for their outcome; beyond, further ones are not scored. */
const OPEN_MAX = 100_000;

export interface Range {
  readonly lowMs: number;
  readonly highMs: number;
  /** Outcomes behind it. */
  readonly observations: number;
}

export interface Corrected {
  readonly midMs: number;
  /** Null below 20 outcomes of this kind. */
  readonly range: Range | null;
}

interface Open {
  readonly atMs: number;
  readonly projectedMs: number;
  readonly shown: Corrected;
  /** What its outcome teaches: of its band, and of all. */
  readonly kinds: readonly Calibration[];
}

export interface Outcome {
  readonly estimatedMs: number;
  readonly actualMs: number;
  /** Inside the stated range; null when none was stated. */
  readonly hit: boolean | null;
}

/** Estimates for a job that starts at once, for one that waits, and for one that waits long are off in different ways. */
interface Kinds {
  readonly atOnce: Calibration;
  readonly soon: Calibration;
  readonly late: Calibration;
}

export class Scoring {
  readonly #softMs: number;
  readonly #kinds: Readonly<Record<Band, Kinds>>;
  /** Of all bands together, for a band that has too few outcomes of its own. */
  readonly #pooled = kindsOf();
  readonly #open = new Map<JobId, Open>();
  /** For each kind and size of estimate, when the last one that counted was asked for. */
  readonly #counted = new Map<Calibration, Map<number, number>>();

  /** @param softMs Added to both sides before they are compared: what is due now has no size to be off by. */
  constructor(softMs: number) {
    this.#softMs = softMs;
    const kinds = BANDS.map((band) => [band, kindsOf()] as const);
    this.#kinds = Object.fromEntries(kinds) as Record<Band, Kinds>;
  }

  /** A projection as outcomes have taught to read it. @param startsInMs Until it starts, whatever is estimated. */
  corrected(band: Band, projectedMs: number, startsInMs: number): Corrected {
    const spread =
      kindIn(this.#kinds[band], projectedMs, startsInMs).spread() ??
      kindIn(this.#pooled, projectedMs, startsInMs).spread();
    if (spread === null) return { midMs: projectedMs, range: null };
    const { observations } = spread;
    const at = (factor: keyof Pick<Spread, "low" | "mid" | "high">): number =>
      Math.max(0, (projectedMs + this.#softMs) * spread[factor] - this.#softMs);
    return { midMs: at("mid"), range: { lowMs: at("low"), highMs: at("high"), observations } };
  }

  /** Remembers the first that is told of a job. */
  told(
    job: JobId,
    band: Band,
    told: { atMs: number; projectedMs: number; startsInMs: number; shown: Corrected },
  ): void {
    if (this.#open.has(job) || this.#open.size >= OPEN_MAX) return;
    const { atMs, projectedMs, startsInMs, shown } = told;
    const kinds = [this.#kinds[band], this.#pooled].map((each) => kindIn(each, projectedMs, startsInMs));
    this.#open.set(job, { atMs, projectedMs, shown, kinds });
  }

  /** It has come. Null: nothing was told of it. */
  came(job: JobId, nowMs: number): Outcome | null {
    const open = this.#open.get(job);
    if (open === undefined) return null;
    this.#open.delete(job);
    const actualMs = nowMs - open.atMs;
    for (const kind of open.kinds) {
      if (this.#isNews(kind, open)) kind.record(open.projectedMs + this.#softMs, actualMs + this.#softMs);
    }
    const { midMs, range } = open.shown;
    const hit = range === null ? null : actualMs >= range.lowMs && actualMs <= range.highMs;
    return { estimatedMs: midMs, actualMs, hit };
  }

  /** It will not come. */
  forget(job: JobId): void {
    this.#open.delete(job);
  }

  /** What outcomes have taught; estimates that wait for theirs are not among it. */
  noted(): object {
    const kinds = [...BANDS.map((band) => [band, this.#kinds[band]] as const), ["all", this.#pooled] as const];
    return Object.fromEntries(kinds.map(([name, each]) => [name, notedOf(each)]));
  }

  recall(note: unknown): void {
    const fields = fieldsIn(note);
    for (const band of BANDS) recallInto(this.#kinds[band], fields[band]);
    recallInto(this.#pooled, fields["all"]);
  }

  /** Neighbours in a burst of hundreds share one fate, and would soon be all that is remembered: one of them counts. */
  #isNews(kind: Calibration, { atMs, projectedMs }: Open): boolean {
    const alike = this.#counted.get(kind) ?? new Map<number, number>();
    this.#counted.set(kind, alike);
    const size = Math.round(SIZES_PER_DOUBLING * Math.log2(Math.max(1, projectedMs)));
    const news = Math.abs(atMs - (alike.get(size) ?? Number.NEGATIVE_INFINITY)) >= APART_MS;
    if (news) alike.set(size, atMs);
    return news;
  }
}

function kindIn(kinds: Kinds, projectedMs: number, startsInMs: number): Calibration {
  if (startsInMs <= AT_ONCE_MS) return kinds.atOnce;
  return projectedMs < LATE_MS ? kinds.soon : kinds.late;
}

function notedOf({ atOnce, soon, late }: Kinds): object {
  return { atOnce: atOnce.noted(), soon: soon.noted(), late: late.noted() };
}

function recallInto(kinds: Kinds, note: unknown): void {
  const { atOnce, soon, late } = fieldsIn(note);
  kinds.atOnce.recall(listIn(atOnce));
  kinds.soon.recall(listIn(soon));
  kinds.late.recall(listIn(late));
}

function kindsOf(): Kinds {
  return { atOnce: new Calibration(), soon: new Calibration(), late: new Calibration() };
}
