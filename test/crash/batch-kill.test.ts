// kill -9 at any moment of a batch's life: no line is lost, none comes to two outcomes, no file is left behind.

import { readdirSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import OpenAI, { toFile } from "openai";
import { expect, it } from "vitest";
import { remoteModels, startEngine } from "../e2e/engine-server.ts";
import { pause, type RouterProcess, serve, tempFolder } from "../e2e/process.ts";
import { PLAIN } from "../e2e/recorded-answers.ts";
import { seeded } from "./http-load.ts";

const LINES = 400;
const KILLS = Number(process.env["SIR_CRASH_ROUNDS"] ?? 8);
const SEED = Number(process.env["SIR_CRASH_SEED"] ?? 20_261_201);
const ANSWER_MS = 20;
const TIMEOUT_MS = 300_000;

const clientAt = (origin: string): OpenAI => new OpenAI({ baseURL: `${origin}/v1`, apiKey: "none" });

function lines(): string {
  const all = Array.from({ length: LINES }, (_, n) => {
    const body = { model: n % 3 === 0 ? "m/a" : "m/b", messages: [{ role: "user", content: `line ${n}` }] };
    return JSON.stringify({ custom_id: `r${n}`, method: "POST", url: "/v1/chat/completions", body });
  });
  return all.join("\n");
}

/** Router after router on one folder, each killed after a while; the last one finishes. */
async function throughKills(
  config: object,
  folder: string,
): Promise<{ last: RouterProcess; id: string; seen: Set<string> }> {
  const random = seeded(SEED);
  const seen = new Set<string>();
  let last = await serve({ config, folder });
  const file = await clientAt(last.origin).files.create({
    file: await toFile(Buffer.from(lines()), "in.jsonl"),
    purpose: "batch",
  });
  const request = { input_file_id: file.id, endpoint: "/v1/chat/completions", completion_window: "24h" } as const;
  const { id } = await clientAt(last.origin).batches.create(request);
  for (let kill = 0; kill < KILLS; kill++) {
    // The first falls into validation, later ones anywhere.
    await pause(kill === 0 ? 5 : random() * 700);
    seen.add((await clientAt(last.origin).batches.retrieve(id)).status);
    await last.kill();
    last = await serve({ config, folder });
  }
  for (let status = ""; status !== "completed"; await pause(50)) {
    status = (await clientAt(last.origin).batches.retrieve(id)).status;
    expect(["validating", "in_progress", "finalizing", "completed"]).toContain(status);
  }
  return { last, id, seen };
}

it(
  "no line is lost, none is run twice to an outcome, and no file is left behind",
  async () => {
    const engine = await startEngine(async ({ response }) => {
      await pause(ANSWER_MS);
      response.writeHead(200, { "content-type": "application/json" }).end(PLAIN);
    });
    const models = remoteModels(engine, ["m/a", "m/b"], { concurrency: 4 });
    const folder = tempFolder();

    const { last, id, seen } = await throughKills(
      { jobs: { maxInterruptions: 1_000, maxAttempts: 1 }, models },
      folder,
    );

    const client = clientAt(last.origin);
    const batch = await client.batches.retrieve(id);
    expect([...seen], `statuses at the kills, seed ${SEED}`).toContain("in_progress");
    expect(batch).toMatchObject({ error_file_id: null, request_counts: { total: LINES, completed: LINES, failed: 0 } });
    const text = await (await client.files.content(batch.output_file_id ?? "")).text();
    const ids = text
      .trimEnd()
      .split("\n")
      .map((each) => (JSON.parse(each) as { custom_id: string }).custom_id);
    expect(ids).toEqual(Array.from({ length: LINES }, (_, n) => `r${n}`));
    await last.stop();
    const database = new Database(last.databasePath, { readonly: true });
    const count = (sql: string): unknown => database.prepare(sql).pluck().get();
    expect(count("SELECT count(*) FROM jobs")).toBe(LINES);
    expect(count("SELECT count(DISTINCT metadata) FROM jobs")).toBe(LINES);
    expect(count("SELECT count(*) FROM (SELECT job FROM attempts WHERE outcome = 'succeeded' GROUP BY job)")).toBe(
      LINES,
    );
    expect(count("SELECT count(*) FROM attempts WHERE outcome = 'succeeded'")).toBe(LINES);
    database.close();
    expect(readdirSync(join(folder, "data", "spool"))).toHaveLength(2);
    // What a kill cut off was asked for again, and nothing else.
    const asked = engine.received.length;
    expect(asked).toBeGreaterThanOrEqual(LINES);
    expect(asked).toBeLessThanOrEqual(LINES + KILLS * 8);
  },
  TIMEOUT_MS,
);
