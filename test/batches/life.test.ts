// The life of a batch as the official client sees it.

import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { batchScene, CHAT, idsOf, line } from "./scene.ts";

const MODELS = { chat: { loadMs: 2_000 }, code: { loadMs: 2_000 } };
const range = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

describe("a batch", () => {
  it("goes from validating to completed, counts as it goes, and keeps the order of its lines", async () => {
    const scene = await batchScene({ models: MODELS });
    const lines = range(30).map((n) => line(`r${n}`, n % 2 === 0 ? "chat" : "code"));

    const made = await scene.create(lines, { metadata: { run: "nightly" }, window: "2h" });
    expect(made).toMatchObject({ object: "batch", status: "validating", endpoint: CHAT, metadata: { run: "nightly" } });
    expect(made).toMatchObject({ output_file_id: null, error_file_id: null, errors: null, completed_at: null });
    expect(made.expires_at).toBe(made.created_at + 2 * 3_600);
    const running = await scene.until(made.id, "in_progress");
    expect(running.request_counts).toMatchObject({ total: 30 });
    expect(running).toMatchObject({ output_file_id: null, error_file_id: null });
    const batch = await scene.done(made.id);

    expect(batch).toMatchObject({ status: "completed", error_file_id: null, failed_at: null, expired_at: null });
    expect(batch.request_counts).toEqual({ total: 30, completed: 30, failed: 0 });
    for (const at of [batch.in_progress_at, batch.finalizing_at, batch.completed_at])
      expect(at).toEqual(expect.any(Number));
    const answers = await scene.lines(batch.output_file_id);
    expect(idsOf(answers)).toEqual(range(30).map((n) => `r${n}`));
    for (const { id, response, error } of answers) {
      expect(error).toBeNull();
      expect(id).toMatch(/^batch_req_[0-9a-f]+$/);
      expect(response).toMatchObject({ status_code: 200, body: { object: "chat.completion" } });
    }
    const file = await scene.world.answer(scene.client.files.retrieve(batch.output_file_id ?? ""));
    expect(file).toMatchObject({ purpose: "batch_output", filename: `${batch.id}_output.jsonl` });
  });

  it("runs its lines in the batch band, without a lease, found by the batch's id", async () => {
    const scene = await batchScene({ models: MODELS });
    const batch = await scene.create([line("a", "chat"), line("b", "chat")]);
    await scene.until(batch.id, "in_progress");
    await scene.world.advance(0);

    const response = await scene.world.answer(scene.world.app.request(`/v1/jobs?metadata[batch_id]=${batch.id}`));
    const { data } = (await response.json()) as { data: { priority: number; lease: unknown; metadata: object }[] };

    expect(data).toHaveLength(2);
    for (const job of data)
      expect(job).toMatchObject({ priority: -100, lease: null, metadata: { batch_id: batch.id } });
  });

  it("keeps its outputs as long as its caller said", async () => {
    const scene = await batchScene({ models: MODELS });
    const made = await scene.create([line("a", "chat")], {
      output_expires_after: { anchor: "created_at", seconds: 7_200 },
    });
    const { output_file_id } = await scene.done(made.id);

    const file = await scene.world.answer(scene.client.files.retrieve(output_file_id ?? ""));

    expect(file.expires_at).toBe(file.created_at + 7_200);
  });

  it("does not need its input file's row any more once it is made, and lets its bytes go when it is over", async () => {
    const scene = await batchScene({ models: MODELS });
    const made = await scene.create(range(5).map((n) => line(`r${n}`, "chat")));
    await scene.world.answer(scene.client.files.delete(made.input_file_id));
    const before = await scene.world.store.usage();

    const batch = await scene.done(made.id);
    await scene.world.advance(10_000);

    expect(batch.request_counts).toEqual({ total: 5, completed: 5, failed: 0 });
    const output = await scene.world.answer(scene.client.files.retrieve(batch.output_file_id ?? ""));
    expect(before.storedBytes).toBeGreaterThan(0);
    expect((await scene.world.store.usage()).storedBytes).toBe(output.bytes);
  });

  it("is found by the client's own pages, each once, newest first", async () => {
    const scene = await batchScene({ models: MODELS });
    const made: string[] = [];
    for (let n = 0; n < 5; n++) made.unshift((await scene.create([line("a", "chat")])).id);

    const seen: string[] = [];
    for await (const batch of scene.client.batches.list({ limit: 2 })) seen.push(batch.id);

    expect(seen).toEqual(made);
  });

  it("takes windows in minutes, hours and days, and refuses what it cannot be", async () => {
    const scene = await batchScene({ models: MODELS });
    const { id } = await scene.upload([line("a", "chat")]);
    const ask = (more: object) =>
      scene.world.answer(
        scene.client.batches.create({ input_file_id: id, endpoint: CHAT, completion_window: "24h", ...more }),
      );

    for (const [window, seconds] of Object.entries({ "90m": 5_400, "24h": 86_400, "7d": 604_800 })) {
      const batch = await ask({ completion_window: window });
      expect((batch.expires_at ?? 0) - batch.created_at).toBe(seconds);
    }
    for (const window of ["24", "0h", "1w", "1.5h", "31d", ""]) {
      await expect(ask({ completion_window: window })).rejects.toMatchObject({
        status: 400,
        param: "completion_window",
      });
    }
    await expect(ask({ endpoint: "/v1/audio/speech" })).rejects.toMatchObject({ code: "unsupported_endpoint" });
    await expect(ask({ input_file_id: `file-${"0".repeat(32)}` })).rejects.toMatchObject({ code: "file_not_found" });
    await expect(ask({ metadata: { a: 1 } })).rejects.toMatchObject({ status: 400, param: "metadata.a" });
    await expect(scene.read(`batch_${"0".repeat(32)}`)).rejects.toThrow(OpenAI.NotFoundError);
  });
});

describe("lines that fail", () => {
  it("all of them: completed, no output file, an error file with the statuses they would have had", async () => {
    const scene = await batchScene({ models: MODELS });
    const made = await scene.create(range(4).map((n) => line(`r${n}`, "nobody")));

    const batch = await scene.done(made.id);

    expect(batch).toMatchObject({ status: "completed", output_file_id: null });
    expect(batch.request_counts).toEqual({ total: 4, completed: 0, failed: 4 });
    const errors = await scene.lines(batch.error_file_id);
    expect(idsOf(errors)).toEqual(["r0", "r1", "r2", "r3"]);
    for (const { response, error } of errors) {
      expect(response).toMatchObject({ status_code: 404, body: { error: { code: "model_not_found" } } });
      expect(error).toBeNull();
    }
  });

  it("some of them: 2xx in the output only, the others in the error file only, and all of the input in either", async () => {
    const scene = await batchScene({ models: { ...MODELS, frail: { backend: { failRequests: 100 } } } });
    const made = await scene.create([
      line("ok1", "chat"),
      line("bad1", "frail"),
      line("ok2", "code"),
      line("bad2", "nobody"),
    ]);

    const batch = await scene.done(made.id);

    expect(batch.request_counts).toEqual({ total: 4, completed: 2, failed: 2 });
    expect(idsOf(await scene.lines(batch.output_file_id))).toEqual(["ok1", "ok2"]);
    const errors = await scene.lines(batch.error_file_id);
    expect(errors.map(({ custom_id, response }) => [custom_id, response?.status_code])).toEqual([
      ["bad1", 502],
      ["bad2", 404],
    ]);
  });
});

describe("a batch that is cut short", () => {
  const slow = { models: { chat: { loadMs: 1_000, concurrency: 1, tokensPerSecond: 1, firstTokenMs: 0 } } };

  it("expires with what was done by then; the rest says so by name", async () => {
    const scene = await batchScene(slow);
    const made = await scene.create(
      range(100).map((n) => line(`r${n}`, "chat")),
      { window: "1m" },
    );

    const batch = await scene.done(made.id);

    expect(batch).toMatchObject({ status: "expired", completed_at: null, cancelled_at: null });
    expect(batch.expired_at).toBeGreaterThanOrEqual(batch.expires_at ?? 0);
    const [output, errors] = [await scene.lines(batch.output_file_id), await scene.lines(batch.error_file_id)];
    expect(output).toHaveLength(5);
    expect(idsOf([...output, ...errors]).sort()).toEqual(
      range(100)
        .map((n) => `r${n}`)
        .sort(),
    );
    for (const { response, error } of errors) {
      expect(response).toBeNull();
      expect(error?.code).toBe("batch_expired");
    }
    expect(batch.request_counts).toEqual({ total: 100, completed: 5, failed: 95 });
    expect(scene.world.engine.status()).toMatchObject({ queued: 0, running: 0 });
  });

  it("is cancelled with what was done by then, and cancelling it again changes nothing", async () => {
    const scene = await batchScene(slow);
    const made = await scene.create(range(100).map((n) => line(`r${n}`, "chat")));
    await scene.until(made.id, "in_progress");
    await scene.world.advance(25_000);

    const cancelling = await scene.world.answer(scene.client.batches.cancel(made.id));
    expect(cancelling.status).toBe("cancelling");
    const batch = await scene.done(made.id);

    expect(batch).toMatchObject({ status: "cancelled", completed_at: null, expired_at: null });
    expect(batch.cancelling_at).toEqual(expect.any(Number));
    expect(batch.cancelled_at).toEqual(expect.any(Number));
    const [output, errors] = [await scene.lines(batch.output_file_id), await scene.lines(batch.error_file_id)];
    expect(output.length).toBeGreaterThan(0);
    expect(output.length + errors.length).toBe(100);
    for (const { error } of errors) expect(error?.code).toBe("batch_cancelled");
    expect(await scene.world.answer(scene.client.batches.cancel(made.id))).toEqual(batch);
    expect(scene.world.engine.status()).toMatchObject({ queued: 0, running: 0 });
  });

  it("that was over already stays completed", async () => {
    const scene = await batchScene({ models: MODELS });
    const made = await scene.create([line("a", "chat")]);
    const batch = await scene.done(made.id);

    expect(await scene.world.answer(scene.client.batches.cancel(made.id))).toEqual(batch);
  });
});
