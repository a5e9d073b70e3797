// Audio and images in OpenAI's shape: speech is a short silent WAV, a transcription is the mock's words, an image is one
// transparent pixel.

import type { Generation } from "./generation.ts";
import { type Label, type Plan, refusal, typed, whole } from "./plan.ts";
import type { MockRequest } from "./request.ts";

const RATE_HZ = 8000;

/** 16-bit mono PCM without a sound, 50 ms. */
function silentWav(): Uint8Array {
  const pcmBytes = (RATE_HZ / 20) * 2;
  const wav = Buffer.alloc(44 + pcmBytes);
  wav.write("RIFF", 0);
  wav.writeUInt32LE(36 + pcmBytes, 4);
  wav.write("WAVEfmt ", 8);
  wav.writeUInt32LE(16, 16);
  wav.writeUInt16LE(1, 20);
  wav.writeUInt16LE(1, 22);
  wav.writeUInt32LE(RATE_HZ, 24);
  wav.writeUInt32LE(RATE_HZ * 2, 28);
  wav.writeUInt16LE(2, 32);
  wav.writeUInt16LE(16, 34);
  wav.write("data", 36);
  wav.writeUInt32LE(pcmBytes, 40);
  return wav;
}

/** Always WAV, whatever format was asked for, and labelled as such. */
export function speech(request: MockRequest): Plan {
  if (request.json !== null && typeof request.json["input"] !== "string") {
    return refusal(400, "input must be a string", "input");
  }
  if (request.json?.["stream_format"] === "sse") {
    return {
      kind: "stream",
      tokens: 1,
      open: "",
      token: () => typed({ type: "speech.audio.delta", audio: Buffer.from(silentWav()).toString("base64") }),
      close: typed({ type: "speech.audio.done", usage: audioUsage(request, 1) }),
      terminator: "",
    };
  }
  return { kind: "whole", tokens: 0, contentType: "audio/wav", body: silentWav };
}

function audioUsage(request: MockRequest, outputTokens: number): object {
  return {
    input_tokens: request.promptTokens,
    output_tokens: outputTokens,
    total_tokens: request.promptTokens + outputTokens,
  };
}

/** Transcriptions and translations. Multipart; its fields are `model`, `response_format`, `stream` and the file. */
export function transcription(request: MockRequest, generation: Generation): Plan {
  if (request.json !== null) {
    return refusal(400, "the audio must be sent as multipart/form-data with a part named file", "file");
  }
  const format = request.form["response_format"] ?? "json";
  const { tokens } = generation;
  const usage = { type: "tokens", ...audioUsage(request, tokens) };
  if (request.stream) {
    return {
      kind: "stream",
      tokens,
      open: "",
      token: (index) => typed({ type: "transcript.text.delta", delta: generation.piece(index) }),
      close: typed({ type: "transcript.text.done", text: generation.text(), usage }),
      terminator: "",
    };
  }
  if (format === "text") {
    return { kind: "whole", tokens, contentType: "text/plain; charset=utf-8", body: () => `${generation.text()}\n` };
  }
  if (format === "verbose_json") {
    return whole(tokens, () => ({
      task: "transcribe",
      language: "english",
      duration: 1,
      text: generation.text(),
      segments: [{ id: 0, start: 0, end: 1, text: generation.text() }],
    }));
  }
  return whole(tokens, () => ({ text: generation.text(), usage }));
}

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

/** Generations (JSON) and edits (multipart). */
export function images(request: MockRequest, label: Label): Plan {
  if (request.json !== null && typeof request.json["prompt"] !== "string") {
    return refusal(400, "prompt must be a string", "prompt");
  }
  const count = Number(request.json?.["n"] ?? request.form["n"] ?? 1);
  if (!(Number.isInteger(count) && count >= 1 && count <= 10)) return refusal(400, "n must be from 1 to 10", "n");
  return whole(0, () => ({
    created: label.createdAtSeconds,
    data: Array.from({ length: count }, () => ({ b64_json: PIXEL })),
    usage: audioUsage(request, 1),
  }));
}
