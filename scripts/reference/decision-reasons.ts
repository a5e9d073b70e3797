// The page on decisions: kinds, reasons and guards, and what each says.

import { GUARD_WORDS, REASON_WORDS } from "../../src/scheduler/reasons.ts";
import { code, heading, table } from "./table.ts";

const INTRO = `A decision is one row: what moved or stayed (\`kind\`), why (\`reason\`), and the hard rule that spoke above the scores, if one did
(\`guard\`). A stay that lasts is one row with \`times\`, \`last_at\` and samples of the race (\`trail\`). \`sir decisions show ID\` and the
dashboard show each candidate's addends. Which rule holds a queue is in [wait causes](wait-causes.md).`;

export function decisionReasonsPage(): string {
  const reasons = Object.entries(REASON_WORDS).map(([reason, { kinds, meaning }]) => [
    code(reason),
    kinds.map(code).join(", "),
    meaning,
  ]);
  const guards = Object.entries(GUARD_WORDS).map(([guard, meaning]) => [code(guard), meaning]);
  const parts = [table(["reason", "kinds", "it says"], reasons), "## Guards", table(["guard", "it says"], guards)];
  return `${heading("Decision reasons", INTRO)}\n${parts.join("\n\n")}\n`;
}
