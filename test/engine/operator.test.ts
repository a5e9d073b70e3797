// What an operator does by hand can be read back: who did it, what it took out, and who waited for it.

import { describe, expect, it, onTestFinished } from "vitest";
import type { Decision } from "../../src/domain/decision.ts";
import type { ModelName } from "../../src/domain/ids.ts";
import { openRig, type Rig, type RigOptions } from "./rig.ts";

const A = "a" as ModelName;
const B = "b" as ModelName;
const LONG = { leaseMs: null, tokens: 640 };
const models = { a: { loadSeconds: 5 }, b: { loadSeconds: 5 } };

async function open(options: Partial<RigOptions> = {}): Promise<Rig> {
  const rig = await openRig({ models, scheduler: { policy: "fifo" }, ...options });
  onTestFinished(async () => {
    const closed = rig.engine.close();
    await rig.advance(400);
    await closed;
    await rig.store.close();
  });
  return rig;
}

const decisions = (rig: Rig): Decision[] => rig.of("decision").map(({ decision }) => decision);
const plain = ({ sentence }: Decision): string => sentence.replaceAll("\u00a0", " ");

async function servingA(rig: Rig): Promise<void> {
  await rig.submit("a", LONG);
  await rig.advance(7);
}

describe("an operator's act", () => {
  it("on a model that is loaded is a decision with its name, what goes, and how many jobs ran there", async () => {
    const rig = await open();
    await servingA(rig);

    await rig.engine.operator.unload(A, false, "ada");

    const last = decisions(rig).at(-1);
    expect(last).toMatchObject({ kind: "unload", reason: "operator", evict: ["a"], load: null, askedBy: "ada" });
    expect(last?.models.map(({ model }) => model)).toEqual(["a", "b"]);
    expect(plain(last as Decision)).toBe("Unloaded a: an operator asked for it. Its 1 running job finishes first.");
    expect(rig.engine.status().devices[0]?.decision?.id).toBe(last?.id);
    await rig.advance(1);
    expect(await rig.store.decision((last as Decision).id)).toMatchObject({ askedBy: "ada" });
  });

  it("interrupts what runs when it is forced, and says so", async () => {
    const rig = await open();
    await servingA(rig);

    await rig.engine.operator.unload(A, true, "ada");

    expect(plain(decisions(rig).at(-1) as Decision)).toContain("Its 1 running job was stopped and will run again.");
  });

  it("is named by what waits because of it, and a load by the one who asked for it", async () => {
    const rig = await open();
    await servingA(rig);
    await rig.engine.operator.unload(A, false, "ada");
    const waiting = await rig.submit("b", { leaseMs: null });
    const own = await rig.submit("a", { leaseMs: null });
    await rig.advance(1);
    const unload = decisions(rig).find(({ reason }) => reason === "operator") as Decision;

    const waits = rig.engine.status().models.map(({ wait }) => wait);
    await rig.engine.operator.load(B, "ben");
    await rig.advance(60);

    expect(waits).toMatchObject([
      { model: "a", cause: "held", rule: "own_move", by: null, decision: unload.id, detail: { who: "ada" } },
      { model: "b", cause: "held", rule: "switching_other", by: "a", decision: unload.id, detail: { who: "ada" } },
    ]);
    expect(await rig.statuses([waiting, own])).toEqual(["succeeded", "succeeded"]);
    const load = decisions(rig).find(({ load: model }) => model === "b");
    expect(load).toMatchObject({ kind: "load", reason: "operator", askedBy: "ben" });
    expect(decisions(rig).filter(({ askedBy }) => askedBy !== undefined)).toHaveLength(2);
  });

  it("that gives up a load under way is one too", async () => {
    const rig = await open();
    await rig.engine.operator.load(A, "ada");
    await rig.advance(2);

    await rig.engine.operator.unload(A, false, "ben");
    await rig.advance(2);

    const last = decisions(rig).find(({ kind }) => kind === "unload");
    expect(last).toMatchObject({ reason: "operator", evict: ["a"], askedBy: "ben" });
    expect(plain(last as Decision)).toBe("Gave up loading a: an operator asked for it.");
    expect(rig.engine.status().models[0]?.state).toBe("absent");
  });

  it("that drains a model is one wherever the model is", async () => {
    const rig = await open();
    await servingA(rig);

    await rig.engine.operator.drainModel(A, { who: "ada", note: null });
    await rig.engine.operator.drainModel(B, { who: "ada", note: null });

    const [first, second] = decisions(rig).slice(-2);
    expect(first).toMatchObject({ kind: "unload", reason: "drain", evict: ["a"], askedBy: "ada" });
    expect(second).toMatchObject({ kind: "idle", reason: "drain", evict: [], about: "b", askedBy: "ada" });
    expect(rig.engine.status().devices[0]?.decision?.id).toBe(first?.id);
  });

  it("that pins what is loaded leaves in force what was, and is named by what it keeps waiting", async () => {
    const rig = await open();
    await servingA(rig);
    const inForce = rig.engine.status().devices[0]?.decision?.id;

    await rig.engine.operator.pin(A, "ada");
    const after = rig.engine.status().devices[0]?.decision?.id;
    const pin = decisions(rig).at(-1);
    await rig.submit("b", { leaseMs: null });
    await rig.advance(30);
    const held = rig.engine.status().models[1]?.wait;
    await rig.engine.operator.unpin(A, "ben");
    const unpin = decisions(rig).at(-1);

    expect(after).toBe(inForce);
    expect(pin).toMatchObject({ kind: "idle", reason: "pin", about: "a", askedBy: "ada" });
    expect(held).toMatchObject({ cause: "held", rule: "pinned", by: "a", detail: { who: "ada" } });
    expect(unpin).toMatchObject({ kind: "hold", reason: "unpin", about: "a", askedBy: "ben" });
  });

  it("that changes nothing leaves no decision", async () => {
    const rig = await open();
    await servingA(rig);
    await rig.engine.operator.pin(A, "ada");
    const before = decisions(rig).length;

    await rig.engine.operator.pin(A, "ben");
    await rig.engine.operator.unpin(B, "ben");
    await rig.engine.operator.unload(B, false, "ben");
    await rig.engine.operator.load(A, "ben");

    expect(decisions(rig)).toHaveLength(before);
  });

  it("on a model that is loaded across two devices is one decision for its one move", async () => {
    const across = { loadSeconds: 5, memoryGiB: 80, device: ["gpu0", "gpu1"] };
    const devices = { gpu0: { memoryGiB: 60 }, gpu1: { memoryGiB: 60 } };
    const rig = await open({ models: { a: across }, devices });
    await servingA(rig);

    await rig.engine.operator.unload(A, false, "ada");
    await rig.advance(30);

    expect(decisions(rig).filter(({ kind }) => kind === "unload")).toHaveLength(1);
    expect(rig.engine.status().models[0]?.state).toBe("absent");
  });
});
