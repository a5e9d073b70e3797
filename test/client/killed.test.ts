// A process that submits a job and is killed at once: its job ends as it asked, and has run once or not at all.

import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import type { Receipt } from "../../src/client/wire.ts";
import { eventually } from "../e2e/process.ts";
import { ask } from "../e2e/wire.ts";
import { holdAnswers, useRig } from "./rig.ts";

const rig = useRig();
const client = fileURLToPath(new URL("../../src/client/index.ts", import.meta.url));

/** Submits in a process of its own, which kills itself with its 202 in hand. @returns the job's id */
async function submitAndDie(leaseSeconds: string): Promise<string> {
  const code = `
    const { createClient } = await import(${JSON.stringify(client)});
    const job = await createClient({ baseURL: "${rig.proxy.origin}" }).submit({ model: "m" }, { leaseSeconds: ${leaseSeconds} });
    process.stdout.write(job.id, () => process.kill(process.pid, "SIGKILL"));
  `;
  const child = spawn(process.execPath, ["--import", "tsx", "--input-type=module", "--eval", code]);
  let id = "";
  child.stdout.on("data", (text: Buffer) => {
    id += text.toString();
  });
  const signal = await new Promise((resolve) => child.once("close", (_, name) => resolve(name)));
  expect(signal).toBe("SIGKILL");
  return id;
}

const receiptOf = async (id: string): Promise<Receipt> =>
  (await ask(rig.router, `/v1/jobs?limit=100`))
    .json<{ data: Receipt[] }>()
    .data.find((each) => each.id === id) as Receipt;

describe("a job whose submitter was killed right after the receipt", () => {
  it("completes where it needs no polls, in one run", async () => {
    const release = holdAnswers(rig);

    const id = await submitAndDie('"none"');
    await rig.engine.request();
    release();

    await eventually(async () => expect(await receiptOf(id)).toMatchObject({ status: "completed", attempts: 1 }));
    expect(rig.engine.received).toHaveLength(1);
  });

  it("is cancelled by its lease where it has one, and its engine call is cut", async () => {
    rig.engine.answer = () => undefined;

    const id = await submitAndDie("2");
    const asked = await rig.engine.request();
    await asked.cut;

    expect(await receiptOf(id)).toMatchObject({ status: "cancelled", error: { reason: "lease_expired" } });
    expect(rig.engine.received).toHaveLength(1);
  });
});
