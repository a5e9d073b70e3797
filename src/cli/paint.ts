// Colour and weight, where a terminal shows them. Never the only sign of anything.

const CODES = { ok: 32, warn: 33, error: 31, held: 35, wait: 34, dim: 90 } as const;

export type Paint = keyof typeof CODES;

export function paint(text: string, kind: Paint, color: boolean): string {
  return color && text !== "" ? `\u001b[${CODES[kind]}m${text}\u001b[39m` : text;
}

export function bold(text: string, color: boolean): string {
  return color && text !== "" ? `\u001b[1m${text}\u001b[22m` : text;
}
