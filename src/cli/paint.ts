// Colour, where a terminal shows it.

const CODES = { ok: 32, warn: 33, error: 31 } as const;

export function paint(text: string, kind: keyof typeof CODES, color: boolean): string {
  return color ? `\u001b[${CODES[kind]}m${text}\u001b[39m` : text;
}
