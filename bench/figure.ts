// What a bench gives back: figures, some of them with a bar to clear.

export interface Bar {
  readonly rule: "at least" | "below";
  readonly value: number;
}

export interface Figure {
  readonly name: string;
  readonly value: number;
  /** `x` for a ratio, else what is counted, e.g. `ms` or `/s`. */
  readonly unit: string;
  readonly bar?: Bar;
  /** What one must know to read the figure. */
  readonly note?: string;
}

/** What a bench is given. */
export interface Stage {
  /** Its own, empty, on the disk to be measured; removed afterwards. */
  readonly folder: string;
  /** Says what is going on. */
  progress(text: string): void;
}

export interface Bench {
  readonly name: string;
  readonly title: string;
  run(stage: Stage): Promise<readonly Figure[]>;
}

export function isMet(figure: Figure): boolean {
  const { bar, value } = figure;
  if (bar === undefined) return true;
  return bar.rule === "at least" ? value >= bar.value : value < bar.value;
}

/** One line: name, value, bar and whether it is met, note. */
export function lineOf(figure: Figure): string {
  const { name, value, unit, bar, note } = figure;
  const said =
    bar === undefined ? "" : `   bar ${bar.rule} ${bar.value}${spaced(unit)}: ${isMet(figure) ? "met" : "MISSED"}`;
  return `  ${name.padEnd(56)} ${rounded(value).padStart(9)}${spaced(unit).padEnd(8)}${said}${note === undefined ? "" : `   (${note})`}`.trimEnd();
}

function spaced(unit: string): string {
  return unit === "x" || unit === "%" || unit === "/s" ? unit : ` ${unit}`;
}

/** Three digits that count; more would claim what a shared machine cannot give. */
function rounded(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  const whole = Math.abs(value) >= 100;
  return whole ? String(Math.round(value)) : String(Number(value.toPrecision(3)));
}
