// What operators' commands print, whole, in files to be read: on a terminal of 80 and of 140 columns, and off one.

import { beforeAll, describe, expect, it } from "vitest";
import { builtCli } from "../e2e/built.ts";
import { type OperatorsRouter, operatorsRouter } from "./operators-router.ts";
import { inTerminal, piped, type Ran } from "./pseudo-terminal.ts";

process.env["TZ"] = "UTC";

beforeAll(() => void builtCli(), 300_000);

/** An evening: one model has the device, another waits for it, one job is done. */
async function evening(): Promise<OperatorsRouter & { readonly ids: Readonly<Record<string, string>> }> {
  const router = await operatorsRouter({
    models: {
      "openai/gpt-oss-120b": { loadMs: 90_000, config: { label: "gpt-oss-120b", concurrency: 2, memoryGiB: 72 } },
      "Qwen/Qwen3-Coder-30B-A3B": { loadMs: 40_000, config: { label: "coder", aliases: ["coder"], memoryGiB: 66 } },
    },
    devices: { gpu0: { memoryGiB: 119 } },
    scheduler: { minResidencySeconds: 60, maxWaitSeconds: 600 },
    jobs: { leaseSeconds: 3_600 },
  });
  const { world } = router;
  const first = world.arrive("openai/gpt-oss-120b", { tokens: 400 });
  await world.advance(200_000);
  const held = world.arrive("coder", { headers: { "sir-priority": "interactive" } });
  for (let i = 0; i < 4; i++) world.arrive("openai/gpt-oss-120b", { tokens: 4_000 });
  await world.advance(20_000);
  const decision = world.decisions().find(({ kind }) => kind === "load")?.id ?? "";
  return { ...router, ids: { done: first.id ?? "", waiting: held.id ?? "", decision } };
}

const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  help: ["help"],
  "exit-codes": ["help", "exit-codes"],
  "explain-help": ["explain", "--help"],
  status: ["status"],
  jobs: ["jobs", "--limit", "4"],
  "jobs-none": ["jobs", "--status", "expired"],
  "jobs-none-json": ["jobs", "--status", "expired", "--json"],
  "jobs-show": ["jobs", "show", "$waiting"],
  "jobs-show-missing": ["jobs", "show", "job_00000000000000000000000000000000"],
  "jobs-show-missing-json": ["jobs", "show", "job_00000000000000000000000000000000", "--json"],
  "explain-done": ["explain", "$done"],
  "explain-waiting": ["explain", "$waiting"],
  "explain-device": ["explain", "device", "gpu0"],
  decisions: ["decisions", "--limit", "3"],
  "decisions-show": ["decisions", "show", "$decision"],
  models: ["models"],
  hints: ["hints"],
  "top-once": ["top", "--once"],
  pause: ["pause", "--device", "gpu0", "--note", "new fan"],
  resume: ["resume", "--device", "gpu0"],
  submit: ["submit", "-m", "openai/gpt-oss-120b", "--detach", "hello"],
  usage: ["jobs", "--stauts", "queued"],
};

function textOf({ code, out, err }: Ran): string {
  const talk = err === "" ? "" : `--- standard error\n${err}`;
  return `${out}${talk}--- status ${code}\n`;
}

/** Each run has its own port. Of ids only the instant is kept: what else draws an id would change all after it. */
function fixed(text: string): string {
  return text
    .replaceAll(/\b((?:job|dec)_[0-9a-f]{12})[0-9a-f]{20}\b/g, (_, start: string) => start + "0".repeat(20))
    .replaceAll(/(?<=(?:job|dec)_[…~])[0-9a-f]+/g, (tail) => "0".repeat(tail.length))
    .replaceAll("\r\n", "\n")
    .replaceAll("\u001b", "\\e")
    .replaceAll(/127\.0\.0\.1:\d+/g, "127.0.0.1:8000");
}

describe("what operators' commands print", () => {
  it.each(Object.keys(COMMANDS))("%s, at 80 columns, at 140 and off a terminal", async (name) => {
    const { origin, ids } = await evening();
    const words = (COMMANDS[name] ?? []).map((word) => (word.startsWith("$") ? (ids[word.slice(1)] ?? word) : word));
    const environment = { SIR_URL: origin };

    const off = await piped(words, environment);
    const narrow = await inTerminal(words, { columns: 80, rows: 24 }, { ...environment, NO_COLOR: "1" }).ended;
    const wide = await inTerminal(words, { columns: 140, rows: 40 }, environment).ended;

    const on = ({ out, code }: Ran): string => textOf({ out, code, err: "" });
    await expect(fixed(textOf(off))).toMatchFileSnapshot(`golden/${name}.pipe.txt`);
    await expect(fixed(on(narrow))).toMatchFileSnapshot(`golden/${name}.80.txt`);
    await expect(fixed(on(wide))).toMatchFileSnapshot(`golden/${name}.140.txt`);
    if (words.includes("--json")) return;
    for (const line of fixed(narrow.out).split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  });
});
