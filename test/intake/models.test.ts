// Names and aliases of models, and what a caller hears who misses them.

import { expect, test } from "vitest";
import { SirError } from "../../src/domain/errors.ts";
import { createModelDirectory, nearest } from "../../src/intake/models.ts";
import { modelSpec } from "./given.ts";

function messageFor(name: string, models = [modelSpec("Qwen/Qwen3-8B", ["chat"]), modelSpec("whisper-1")]): string {
  try {
    createModelDirectory(models).resolve(name);
  } catch (error) {
    if (error instanceof SirError && error.code === "model_not_found") return error.message;
    throw error;
  }
  return "found";
}

test("A model is found by its name and by its alias, exactly as written", () => {
  const directory = createModelDirectory([modelSpec("Qwen/Qwen3-8B", ["chat"]), modelSpec("chat-large")]);
  expect(directory.resolve("Qwen/Qwen3-8B").name).toBe("Qwen/Qwen3-8B");
  expect(directory.resolve("chat").name).toBe("Qwen/Qwen3-8B");
  expect(messageFor("CHAT")).toContain('Did you mean "chat"?');
});

test("A name wins over another model's alias", () => {
  const directory = createModelDirectory([modelSpec("a", ["b"]), modelSpec("b")]);
  expect(directory.resolve("b").name).toBe("b");
});

test.each([
  ["Qwen/Qwen3-8b", "Qwen/Qwen3-8B"],
  ["qwen3-8b", "Qwen/Qwen3-8B"],
  ["whisper1", "whisper-1"],
  ["chta", "chat"],
])("For %j it suggests %j", (name, suggestion) => {
  expect(messageFor(name)).toContain(`Did you mean "${suggestion}"?`);
});

test.each(["gpt-4o", "x".repeat(100_000), "constructor", "__proto__"])("For %.20s it suggests nothing", (name) => {
  expect(messageFor(name)).not.toContain("Did you mean");
});

test("The message lists ten models at most and says how many more there are", () => {
  const models = Array.from({ length: 25 }, (_, i) => modelSpec(`model-${i}`));
  const message = messageFor("zzzzzzzzzzzzzzz", models);
  expect(message).toContain("model-9 and 15 more.");
  expect(message).not.toContain("model-10");
  expect(messageFor("a", [])).toContain("none is configured");
});

test("After the configuration was read again, the new models are found and the old ones are not", () => {
  const directory = createModelDirectory([modelSpec("old")]);
  directory.replace([modelSpec("new")]);
  expect(directory.resolve("new").name).toBe("new");
  expect(() => directory.resolve("old")).toThrow("does not exist");
});

test("Of equally near names the first wins", () => {
  expect(nearest("mode", ["model", "modes"])).toBe("model");
});
