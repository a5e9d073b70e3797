// The page on causes: into what a job's life is split, when each holds, and what would change it.

import { CAUSES } from "../../src/domain/wait.ts";
import { CAUSE_WORDS } from "../../src/explain/causes.ts";
import { HOLD_WORDS } from "../../src/explain/hold-words.ts";
import { code, heading, table } from "./table.ts";

const INTRO = `From acceptance to its end a job is in exactly one of these at each millisecond: the first of the list that is true. So the parts
of \`sir explain\`, of the job's page and of \`GET /v1/jobs/{id}/explain\` touch, never overlap, and sum to the whole. Before acceptance
nothing is counted: a 429 is no wait. On several devices the most advanced one counts. The one thing that is relabelled afterwards is
a run: what another attempt had to follow was a lost one.`;

const HELD = `\`held\` names the rule that let another model stay. What would change it depends on the policy; the explanation of a job
names what the policy in force reads.`;

export function waitCausesPage(): string {
  const causes = CAUSES.map((cause, index) => {
    const { title, when, levers } = CAUSE_WORDS[cause];
    return [String(index + 1), code(cause), title, when, levers.join("; ")];
  });
  const rules = Object.entries(HOLD_WORDS).map(([rule, { title, when, levers, ofPolicy = {} }]) => {
    const own = Object.entries(ofPolicy).map(([policy, keys]) => `under ${policy}: ${keys.join(", ")}`);
    return [code(rule), title, when, [...levers, ...own].join("; ")];
  });
  const causeTable = table(["", "cause", "what people call it", "holds when", "what would change it"], causes);
  const ruleTable = table(["rule", "what people call it", "holds when", "what would change it"], rules);
  return `${heading("Wait causes", INTRO)}\n${causeTable}\n\n## Rules of \`held\`\n\n${HELD}\n\n${ruleTable}\n`;
}
