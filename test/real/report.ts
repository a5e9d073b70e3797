// What a run with real engines showed: one line for each thing, with its seconds, printed at once and kept as markdown.

export interface Report {
  heading(text: string): void;
  /** Something that held; a check that does not hold throws instead. */
  shown(text: string): void;
  /** What was seen without a verdict. */
  seen(text: string): void;
  failed(text: string): void;
  readonly failures: number;
  markdown(): string;
}

export function createReport(): Report {
  const lines: string[] = [];
  let failures = 0;
  const add = (line: string): void => {
    lines.push(line);
    console.log(line);
  };
  return {
    heading: (text) => add(`\n### ${text}\n`),
    shown: (text) => add(`- ${text}`),
    seen: (text) => add(`- Seen: ${text}`),
    failed: (text) => {
      failures += 1;
      add(`- **Stopped here:** ${text}`);
    },
    get failures() {
      return failures;
    },
    markdown: () => `${lines.join("\n").trim()}\n`,
  };
}

/** With one digit below a second. */
export function secondsText(seconds: number): string {
  return seconds < 1 ? `${seconds.toFixed(2)} s` : `${seconds.toFixed(1)} s`;
}

export async function timed<T>(work: () => Promise<T>): Promise<{ value: T; seconds: number }> {
  const began = performance.now();
  const value = await work();
  return { value, seconds: (performance.now() - began) / 1000 };
}

/** Asks until it holds. @throws naming what was awaited */
export async function until<T>(
  what: string,
  limitSeconds: number,
  look: () => Promise<T | null> | T | null,
): Promise<T> {
  const end = performance.now() + limitSeconds * 1000;
  for (;;) {
    const found = await look();
    if (found !== null) return found;
    if (performance.now() > end) throw new Error(`after ${limitSeconds} s still not: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
