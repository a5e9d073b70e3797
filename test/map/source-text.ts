// Reads TypeScript as text: what it imports, and its code without comments and the insides of strings.

const IMPORT = /\bimport\s*(?:type\s+)?(?:[\w$*\s{},]+?\s*from\s*)?(["'])([^"'\n]+)\1/g;
const EXPORT_FROM = /\bexport\s+(?:type\s+)?(?:\*(?:\s+as\s+\w+)?|\{[^}]*\})\s*from\s*(["'])([^"'\n]+)\1/g;
const DYNAMIC = /\b(?:import|require)\s*\(\s*(["'`])([^"'`\n]+)\1/g;

/** The same without those that only take types: `import type …`, `export type …`. */
export function valueImportsOf(text: string): readonly string[] {
  return importsOf(text.replaceAll(/\b(?:import|export)\s+type\s[^;]*?\sfrom\s*(["'])[^"'\n]+\1/g, ""));
}

/** Specifiers of static, re-exporting, type-only and dynamic imports, each once. */
export function importsOf(text: string): readonly string[] {
  const readable = scan(text, false);
  const code = codeOnly(text);
  const found = [IMPORT, EXPORT_FROM, DYNAMIC].flatMap((pattern) =>
    [...readable.matchAll(pattern)].filter((match) => code[match.index] !== " ").map((match) => match[2] ?? ""),
  );
  return [...new Set(found)];
}

/** Comments and the insides of strings become blanks; line numbers stay. Code inside `${…}` is kept. */
export function codeOnly(text: string): string {
  return scan(text, true);
}

const blank = (text: string): string => text.replaceAll(/[^\n]/g, " ");

/** One pattern for what must be skipped as a whole; a regular expression literal counts only where a value may begin. */
const SKIP =
  /(\/\/[^\n]*|\/\*[\s\S]*?\*\/)|("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)|(?<=[=(,:[!&|?{};\n]\s*|return\s+)(\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*)/g;

function scan(text: string, stringsToo: boolean): string {
  return text.replaceAll(SKIP, (whole: string, comment?: string, quoted?: string) => {
    if (comment !== undefined) return blank(whole);
    if (!stringsToo) return whole;
    if (quoted?.startsWith("`")) return insideTemplate(whole);
    return blank(whole);
  });
}

/** Keeps what stands in `${…}` (one level deep is enough for a lint), blanks the rest. */
function insideTemplate(template: string): string {
  return template.replaceAll(/\$\{([^{}`]*)\}|[^\n]/g, (_whole: string, code?: string) =>
    code === undefined ? " " : `  ${code} `,
  );
}
