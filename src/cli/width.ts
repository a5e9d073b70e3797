// How wide a text is on a terminal, text cut to a width, and text made harmless: a name from outside may hold anything.

const segments = new Intl.Segmenter("en", { granularity: "grapheme" });

const ZERO = /^[\p{Mark}\p{Cf}\u200b]+$/u;
const WIDE =
  /^(?:\p{Emoji_Presentation}|.\ufe0f|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{20000}-\u{3fffd}])/u;
const PLAIN = /^[\x20-\x7e\u00a0-\u02ff\u2010-\u2027\u2500-\u25ff]*$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/** In columns. */
export function widthOf(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const { segment } of segments.segment(text)) width += ZERO.test(segment) ? 0 : WIDE.test(segment) ? 2 : 1;
  return width;
}

/** On one line, without anything that a terminal would obey or that would turn the line around. */
export function harmless(text: string): string {
  return text.replace(CONTROL, (each) => (each === "\n" || each === "\t" || each === "\r" ? " " : "\ufffd"));
}

export function padded(text: string, width: number, right = false): string {
  const gap = " ".repeat(Math.max(0, width - widthOf(text)));
  return right ? gap + text : text + gap;
}

/** Cut in the middle, where names differ least: both ends stay. */
export function cutMiddle(text: string, width: number, mark = "…"): string {
  if (widthOf(text) <= width) return text;
  const room = width - mark.length;
  if (room <= 0) return mark.slice(0, Math.max(0, width));
  const tail = takeEnd(text, Math.floor(room / 2));
  return takeStart(text, room - widthOf(tail)) + mark + tail;
}

/** Cut at the end. */
export function cutEnd(text: string, width: number, mark = "…"): string {
  if (widthOf(text) <= width) return text;
  return takeStart(text, Math.max(0, width - mark.length)) + mark.slice(0, width);
}

function takeStart(text: string, width: number): string {
  let taken = "";
  let left = width;
  for (const { segment } of segments.segment(text)) {
    left -= widthOf(segment);
    if (left < 0) break;
    taken += segment;
  }
  return taken;
}

function takeEnd(text: string, width: number): string {
  const reversed = [...segments.segment(text)].map(({ segment }) => segment).reverse();
  const taken: string[] = [];
  let left = width;
  for (const segment of reversed) {
    left -= widthOf(segment);
    if (left < 0) break;
    taken.unshift(segment);
  }
  return taken.join("");
}

/** Lines of at most `width` columns, broken at spaces; what is longer than a line is broken anywhere. */
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (widthOf(longer) <= width) {
      line = longer;
      continue;
    }
    if (line !== "") lines.push(line);
    line = word;
    while (widthOf(line) > width && width > 0) {
      const head = takeStart(line, width) || line.slice(0, 1);
      lines.push(head);
      line = line.slice(head.length);
    }
  }
  return line === "" && lines.length > 0 ? lines : [...lines, line];
}

const SIGNS: Readonly<Record<string, string>> = {
  "\u00a0": " ",
  "\u2212": "-",
  "\u00b7": "-",
  "\u2026": "...",
  "\u00b1": "+-",
};

/** Our own signs for a terminal that shows only ASCII; names from outside stay what they are. */
export function plainSigns(text: string): string {
  return text.replace(/[\u00a0\u2212\u00b7\u2026\u00b1]/g, (sign) => SIGNS[sign] ?? sign);
}
