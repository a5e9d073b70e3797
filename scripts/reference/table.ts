// Markdown tables from rows of text, with what would break a cell escaped.

/** @param rows Each as long as `head`. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(" | ")} |`;
  return [line(head), `| ${head.map(() => "---").join(" | ")} |`, ...rows.map(line)].join("\n");
}

const cell = (text: string): string =>
  text
    .replaceAll("|", "\\|")
    .replaceAll(/\s*\n\s*/g, " ")
    .trim() || " ";

export const code = (text: string): string => `\`${text}\``;

/** The first lines of every page that is written by a program. */
export function heading(title: string, intro: string): string {
  return `# ${title}\n\n<!-- Written by \`npm run docs\`; a test compares it with the code. Change the code, not this page. -->\n\n${intro}\n`;
}
