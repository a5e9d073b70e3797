// What the tests of batches start from: a whole router on a virtual clock with mock models, and OpenAI's own client.

import type OpenAI from "openai";
import { toFile } from "openai";
import { type Given, given } from "../given.ts";
import { clientOf } from "../http/openai-client.ts";

export interface Line {
  readonly custom_id?: unknown;
  readonly method?: unknown;
  readonly url?: unknown;
  readonly body?: unknown;
}

export const CHAT = "/v1/chat/completions";

/** A valid line. */
export function line(id: string, model: string, more: object = {}): Line {
  const body = { model, messages: [{ role: "user", content: id }], max_tokens: 10, ...more };
  return { custom_id: id, method: "POST", url: CHAT, body };
}

export const jsonl = (lines: readonly unknown[]): string =>
  lines.map((each) => (typeof each === "string" ? each : JSON.stringify(each))).join("\n");

export interface OutputLine {
  readonly id: string;
  readonly custom_id: string;
  readonly response: { status_code: number; request_id: string; body: Record<string, unknown> } | null;
  readonly error: { code: string; message: string } | null;
}

export async function batchScene(facts: Given) {
  const world = await given(facts);
  const client = clientOf(world);

  const scene = {
    world,
    client,
    async upload(lines: readonly unknown[]) {
      const file = await toFile(Buffer.from(jsonl(lines)), "in.jsonl");
      return world.answer(client.files.create({ file, purpose: "batch" }));
    },
    async create(lines: readonly unknown[], more: Partial<OpenAI.BatchCreateParams> & { window?: string } = {}) {
      const { window = "24h", ...rest } = more;
      const { id } = await scene.upload(lines);
      const params = { input_file_id: id, endpoint: CHAT, completion_window: window as "24h", ...rest } as const;
      return world.answer(client.batches.create(params));
    },
    read: (id: string) => world.answer(client.batches.retrieve(id)),
    /** Until the batch has one of these statuses. */
    async until(id: string, ...statuses: string[]) {
      for (let looks = 0; looks < 100_000; looks++) {
        const batch = await scene.read(id);
        if (statuses.includes(batch.status)) return batch;
        await world.advance(100);
      }
      throw new Error(`${id} never becomes ${statuses.join(" or ")}`);
    },
    done: (id: string) => scene.until(id, "completed", "failed", "expired", "cancelled"),
    async lines(file: string | null | undefined): Promise<OutputLine[]> {
      if (file == null) return [];
      const text = await world.answer(client.files.content(file).then((response) => response.text()));
      return text
        .split("\n")
        .filter((each) => each !== "")
        .map((each) => JSON.parse(each) as OutputLine);
    },
  };
  return scene;
}

export const idsOf = (lines: readonly OutputLine[]): string[] => lines.map(({ custom_id }) => custom_id);
