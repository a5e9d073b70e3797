// Hints and session starts: kept through restarts, and never more of them than was agreed.

import { expect, it } from "vitest";
import type { Hint } from "../../src/domain/hint.ts";
import type { CallerId, HintId, ModelName } from "../../src/domain/ids.ts";
import { LOCAL_CALLER } from "../../src/domain/ids.ts";
import { nextHex } from "./given.ts";
import { openOnFile, temporaryDirectory } from "./on-file.ts";

const LIMITS = { ofCaller: 2, ofAll: 3 };
const chat = "chat" as ModelName;

function hint(rest: Partial<Hint> = {}): Hint {
  return {
    ...{ id: `hint_${nextHex()}` as HintId, caller: LOCAL_CALLER, model: chat, createdAtMs: 1_790_000_000_000 },
    ...{ atMs: 1_790_000_090_000, untilMs: null, repeat: null, jobs: null, priority: 0, last: null, ...rest },
  };
}

it("a hint survives a restart as it was made and noted, and is gone once it is removed", async () => {
  const directory = temporaryDirectory();
  const first = await openOnFile(directory);
  const once = hint({ untilMs: 1_790_000_200_000, jobs: 12, priority: -100 });
  const daily = hint({ repeat: "daily" });
  for (const each of [once, daily]) expect(await first.store.hints.add(each, LIMITS)).toBe("added");
  const next = { ...daily, last: "met" as const, atMs: daily.atMs + 86_400_000, untilMs: daily.atMs + 90_000_000 };
  await first.store.hints.note(next);
  await first.store.close();

  const second = await openOnFile(directory);

  expect(await second.store.hints.all(null)).toEqual([once, next]);
  expect(await second.store.hints.remove(once.id)).toBe(true);
  expect(await second.store.hints.remove(once.id)).toBe(false);
  expect(await second.store.hints.all(LOCAL_CALLER)).toHaveLength(1);
  await second.store.close();
});

it("one caller's hints are bounded, and all callers' together, also when they are made in one tick", async () => {
  const { store } = await openOnFile(temporaryDirectory());
  const other = "other" as CallerId;

  const own = await Promise.all([1, 2, 3].map(() => store.hints.add(hint(), LIMITS)));
  const others = await Promise.all([1, 2].map(() => store.hints.add(hint({ caller: other }), LIMITS)));

  expect(own).toEqual(["added", "added", "too_many"]);
  expect(others).toEqual(["added", "too_many"]);
  expect(await store.hints.all(other)).toHaveLength(1);
  await store.close();
});

it("the last 64 session starts of each model are kept, with the weight that came last", async () => {
  const directory = temporaryDirectory();
  const first = await openOnFile(directory);
  const start = (model: string, startedAtMs: number, weight: number) =>
    first.store.append([{ type: "session", session: { model: model as ModelName, startedAtMs, weight } }]);
  for (let i = 0; i < 70; i++) start("chat", i * 1_000, 1);
  start("chat", 69_000, 12.5);
  start("coder", 3, 0.1);
  await first.store.close();

  const second = await openOnFile(directory);
  const sessions = await second.store.hints.sessions();

  const chats = sessions.filter(({ model }) => model === chat);
  expect(chats.map(({ startedAtMs }) => startedAtMs)).toEqual(Array.from({ length: 64 }, (_, i) => (i + 6) * 1_000));
  expect(chats.at(-1)?.weight).toBe(12.5);
  expect(sessions).toContainEqual({ model: "coder", startedAtMs: 3, weight: 0.1 });
  await second.store.close();
});
