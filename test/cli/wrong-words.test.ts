// What people type wrongly, and what they are told to type instead; nothing is asked of a router before.

import { describe, expect, it } from "vitest";
import { modelSaid } from "../../src/cli/model-said.ts";
import type { ModelStatusWire } from "../../src/client/wire-status.ts";
import { terminal } from "./terminal.ts";

const said: [words: string[], told: string][] = [
  [["submit", "-m", "chat", "--priority", "urgent", "hi"], '--priority does not know "urgent"'],
  [["submit", "-m", "chat", "hello", "world"], 'Put a prompt in quotes: "hello world".'],
  [["submit", "-m", "chat", "--max_tokens", "5", "hi"], "Unknown flag --max_tokens. Did you mean --max-tokens?"],
  [["submit", "-n", "5"], "Unknown flag -n."],
  [["explain"], "Explain what?"],
  [["explain", "gpu0"], "Did you mean `sir explain device gpu0`?"],
  [["explain", "chat"], '"chat" is no job\'s id.'],
  [["pause", "gpu0"], "Did you mean --device gpu0?"],
  [["jobs", "--status", "wating"], "--status does not know"],
  [["serve", "--port", "abc"], 'the configuration has 1 problem:\n  --port: came as "abc".'],
];

describe("a wrong word", () => {
  it.each(said)("is answered with the right one: %j", async (words, told) => {
    const asked: unknown[] = [];
    const fetch = (async (url: unknown) => {
      asked.push(url);
      throw new Error("nobody is there");
    }) as typeof globalThis.fetch;
    const screen = terminal({ fetch });

    expect(await screen.run(...words)).toBe(2);

    expect(screen.err()).toContain(told);
    expect([screen.out(), asked]).toEqual(["", []]);
  });
});

describe("what an operator's word about a model comes to", () => {
  const model = {
    ...{ id: "chat", state: "absent", device: null, homes: ["gpu0"], pinned: false, running: 0 },
    ...{ load_seconds: 8, loads: { median_seconds: null } },
  } as unknown as ModelStatusWire;
  const code = { ...model, id: "code", state: "resident", device: "gpu0", pinned: true };

  it.each([
    ["load", { state: "loading", device: "gpu0" }, "Asked for. Loading chat on gpu0, about 8s."],
    ["load", { state: "resident", device: "gpu0" }, "chat is loaded on gpu0."],
    ["load", {}, "code (on gpu0) is pinned: where chat does not fit beside, it waits until it is unpinned or unloaded"],
    ["load", { homes: [] }, "chat is always on: it is served elsewhere."],
    ["unload", {}, "chat is not loaded."],
    [
      "unload",
      { state: "resident", running: 1, pinned: true },
      "once 1\u00a0running job has finished. It is pinned still",
    ],
    ["pin", { state: "resident" }, "chat is pinned: no other model evicts it."],
    ["unpin", {}, "chat is no longer pinned."],
  ] as const)("is a sentence: %s %j", (verb, facts, words) => {
    expect(modelSaid(verb, { ...model, ...facts }, [model, code])).toContain(words);
  });

  it("names no pinned model of another device", () => {
    expect(modelSaid("load", model, [{ ...code, device: "gpu1" }])).toBe(
      "Asked for. chat is loaded (about 8s) as soon as gpu0 can take it.",
    );
  });
});
