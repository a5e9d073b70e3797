// Every cause, rule, summary and device sentence in words, against a golden file, and what no sentence may ever say.

import { beforeAll, expect, test } from "vitest";
import type { DecisionReason } from "../../src/domain/decision.ts";
import { CAUSES } from "../../src/domain/wait.ts";
import { CAUSE_WORDS, partWords, phraseOf } from "../../src/explain/causes.ts";
import { HOLD_WORDS } from "../../src/explain/hold-words.ts";
import { ENDS, summaryOf } from "../../src/explain/summary.ts";
import { REASON_WORDS } from "../../src/scheduler/reasons.ts";
import { deviceLines } from "./devices.ts";
import { expectations } from "./expectations.ts";
import { cancelled, job, label, life, moved, PARTS, part, RULES, STATES } from "./words.ts";

const MINUTE = 60_000;

beforeAll(() => {
  process.env["TZ"] = "UTC";
});

const swap = [part("draining", 152_000), part("unloading", 9_000), part("loading", 60_000)];
const held = part("held", 20 * MINUTE);

const LIVES = [
  ["at once", life(STATES.succeeded, [part("dispatch", 12), part("running", 6_000)])],
  ["at once, running", life(STATES.running, [part("dispatch", 12), part("running", 6_000)])],
  [
    "held until the ceiling",
    life(STATES.succeeded, [held, ...swap, part("running", 6_000)], {
      moved: moved("ceiling", 20 * MINUTE, { ceiling_seconds: 1_200, waited_seconds: 1_200 }),
    }),
  ],
  ["held, swap to come", life(STATES.queued, [held])],
  ["held, loading now", life(STATES.queued, [held, part("draining", 4_000), part("loading", 9_000)])],
  ["running after a wait", life(STATES.running, [part("own_queue", 40_000), part("running", 6_000)])],
  ["two causes", life(STATES.succeeded, [part("own_queue", 70_000), held, part("running", 90_000)])],
  ["loading alone", life(STATES.succeeded, [part("loading", 60_000), part("dispatch", 3), part("running", 1_400)])],
  ["mostly loading", life(STATES.succeeded, [part("own_queue", 5_000), part("loading", 60_000), part("running", 900)])],
  ["swap without a hold", life(STATES.succeeded, [...swap, part("running", 6_000)])],
  ["under two seconds", life(STATES.succeeded, [part("own_queue", 1_900), part("running", 6_000)])],
  [
    "held by several rules in turn",
    life(
      STATES.succeeded,
      [part("held", 9_650, { rule: "switching_other" }), part("held", 10_483), ...swap, part("running", 900)]
        .map((each) => (each.cause === "draining" ? { ...each, ms: 5_268 } : each))
        .filter(({ cause }) => cause !== "loading"),
      {
        moved: moved("challenger_wins", 20_000),
      },
    ),
  ],
  [
    "held by three rules, all the time",
    life(STATES.queued, [
      part("held", 9_650, { rule: "switching_other" }),
      part("held", 10_483),
      part("held", 8_000, { rule: "min_residency" }),
    ]),
  ],
  ["days", life(STATES.succeeded, [part("router_down", 260_000_000), part("running", 6_000)])],
  ["failed after a wait", life(STATES.failed, [held, part("running", 6_000)])],
  ["failed at once", life(STATES.failed, [part("running", 6_000)])],
  ["failed, never ran", life(STATES.failed, [part("model_broken", 90_000)])],
  ["never ran and failed at once", life(STATES.failed, [part("dispatch", 3)])],
  ...(["client", "lease_expired", "deadline", "admin", "disconnect"] as const).flatMap((reason) => [
    [`cancelled ${reason}, never ran`, life(cancelled(reason), [part("held", 90_000)])] as const,
    [`cancelled ${reason}, ran`, life(cancelled(reason), [part("held", 90_000), part("running", 3_000)])] as const,
  ]),
  ["cancelled at once", life(cancelled("client"), [part("running", 3_000)])],
  ["expired", life(STATES.expired, [part("held", 90_000)])],
  [
    "expired, with its deadline",
    life(STATES.expired, [part("held", 90_000)], { job: job(STATES.expired, { deadlineAtMs: 1_090_000 }) }),
  ],
  ["lost twice", life(STATES.succeeded, [part("lost_attempt", 90_000, { stretches: 2 }), part("running", 6_000)])],
  [
    "over midnight",
    life(STATES.succeeded, [part("held", 4 * 60 * MINUTE), part("running", 6_000)], {
      moved: moved("cold", 4 * 60 * MINUTE),
    }),
  ],
] as const;

const ended = (reason: DecisionReason) =>
  life(STATES.succeeded, [held, part("running", 6_000)], { moved: moved(reason, 20 * MINUTE) });

function lines(): string[] {
  return [
    "# causes and rules: title | what happened | what happens | levers",
    ...PARTS.map(([name, each]) => {
      const { title, text, levers } = partWords(each, label, "model-score");
      const now = phraseOf(each, label, "present", each.stretches);
      return `${name.padEnd(28)} ${title} | ${text} | ${now} | ${levers.join(", ")}`;
    }),
    "",
    "# summaries",
    ...LIVES.flatMap(([name, each]) => {
      const { text, code, try: command } = summaryOf(each, label);
      return [`${name}: ${text}`, `    ${code}${command === null ? "" : `; ${command}`}`];
    }),
    "",
    "# how a hold ends",
    ...Object.keys(ENDS).map(
      (reason) => `${reason.padEnd(22)} ${summaryOf(ended(reason as DecisionReason), label).text}`,
    ),
    "",
    "# devices: code | what | why",
    ...deviceLines(),
    "",
    "# what is expected",
    ...expectations(),
  ];
}

test("every cause, rule, summary, device sentence and expectation is what it was", async () => {
  await expect(`${lines().join("\n")}\n`.replaceAll("\u00a0", "~")).toMatchFileSnapshot("words.golden.txt");
});

test("the golden file holds every cause and every rule, and the tables no other", () => {
  const parts = PARTS.map(([, { cause, rule }]) => (rule === null ? cause : `held ${rule}`));

  expect(Object.keys(CAUSE_WORDS)).toEqual([...CAUSES]);
  for (const cause of CAUSES) expect(parts.some((each) => each.startsWith(cause))).toBe(true);
  for (const rule of RULES) expect(parts).toContain(`held ${rule}`);
  for (const { when, title } of [...Object.values(CAUSE_WORDS), ...Object.values(HOLD_WORDS)]) {
    expect(when).toMatch(/^[A-Za-z].*\.$/);
    expect(title).toMatch(/^[A-Z].*[^.]$/);
  }
});

test("a hold can end by every reason that brings a model in", () => {
  const comes = Object.entries(REASON_WORDS).filter(([, { kinds }]) =>
    kinds.some((kind) => kind === "swap" || kind === "load" || kind === "preload"),
  );
  expect(Object.keys(ENDS).sort()).toEqual(comes.map(([reason]) => reason).sort());
});
