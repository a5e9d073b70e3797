// What a killed router left running: taken over when it is what would be started today and answers, else ended; a pid
// that is somebody else's by now is never touched.

import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { engine, eventually, load, marked, never, type Rig, rig } from "./engines/rig.ts";
import { callOf, chatBody, Taken } from "./samples.ts";

const recordOf = ({ dataDir }: Rig, marker: string): string => join(dataDir, "engines", `${marker}.json`);

async function stranger(): Promise<ChildProcess> {
  const child = spawn("sleep", ["600"], { detached: true, stdio: "ignore" });
  onTestFinished(() => void child.kill("SIGKILL"));
  await new Promise((resolve) => child.once("spawn", resolve));
  return child;
}

describe("an engine that a killed router left", () => {
  it("is found with its load and its address, proves itself, serves, and is stopped like any other", async () => {
    const first = rig();
    const place = first.placement("m");
    const before = await load(first.backend("m"), { ...place, epoch: 7 });
    const next = first.again();
    const engine = next.backend("m");

    const found = await engine.inspect();
    const alive = await engine.alive(before, never());
    const sink = new Taken();
    const outcome = await engine.run(before, callOf("/v1/completions", chatBody()), sink, never());

    expect(found).toEqual([{ ...place, endpoint: before.endpoint, epoch: 7 }]);
    expect([alive, outcome.kind, sink.json["pid"]]).toEqual([true, "succeeded", marked(place.instance)[0]]);
    expect(await engine.logs(place.model, 100)).toContain("Application startup complete.");
    await engine.stop(before, 5_000, never());
    expect(marked(place.instance)).toEqual([]);
    expect(await engine.inspect()).toEqual([]);
  });

  it("tells of its end although nobody is its parent", async () => {
    const first = rig();
    const place = first.placement("m");
    await load(first.backend("m"), place);
    const engine = first.again().backend("m");
    const told = new Promise<string>((resolve) => engine.onLost?.((_id, detail) => resolve(detail)));
    await engine.inspect();

    process.kill(marked(place.instance)[0] ?? 0, "SIGKILL");

    expect(await told).toMatch(/^its process is gone; it was started by an earlier router/);
  });

  it.each([
    ["its command has changed", {}, { env: { NEW: "1" } }],
    ["it is healthy and answers nothing", { brokenFile: "BROKEN" }, {}],
  ])("is not alive when %s", async (_words, knobs, over) => {
    const first = rig();
    const given = JSON.parse(JSON.stringify(knobs).replace("BROKEN", first.file("broken")));
    const before = await load(first.backend("m", given), first.placement("m"));
    writeFileSync(first.file("broken"), "");
    const engine = first.again().backend("m", given, over);

    const found = await engine.inspect();

    expect(found).toHaveLength(1);
    expect(await engine.alive(before, never())).toBe(false);
    await engine.stop(before, 5_000, never());
    expect(marked(before.instance)).toEqual([]);
  });

  it("is listed, to be stopped, when its model is gone from the configuration", async () => {
    const first = rig();
    const before = await load(first.backend("gone"), first.placement("gone"));
    const engine = first.again().backend("m");

    const found = await engine.inspect();

    expect(found.map(({ instance }) => instance)).toEqual([before.instance]);
    expect(await engine.alive(before, never())).toBe(false);
    await engine.stop(before, 5_000, never());
    expect(marked(before.instance)).toEqual([]);
  });

  it("is ended when only its grandchild is left", async () => {
    const first = rig();
    const place = first.placement("m");
    const before = await load(first.backend("m", { grandchild: "marked" }), place);
    const leader = Math.min(...marked(place.instance));
    process.kill(leader, "SIGKILL");
    await eventually(() => expect(marked(place.instance)).not.toContain(leader));
    const engine = first.again().backend("m", { grandchild: "marked" });

    const found = await engine.inspect();

    expect(found.map(({ instance }) => instance)).toEqual([before.instance]);
    await engine.stop(before, 300, never());
    expect(marked(place.instance)).toEqual([]);
  });

  it("is found by its mark when the router was killed before it could write down the pid", async () => {
    const first = rig();
    const place = first.placement("m");
    const before = await load(first.backend("m"), place);
    const path = recordOf(first, place.instance);
    const record = JSON.parse(readFileSync(path, "utf8"));
    writeFileSync(path, JSON.stringify({ ...record, pid: null, started: null }));
    const engine = first.again().backend("m");

    const found = await engine.inspect();

    expect(found.map(({ instance }) => instance)).toEqual([place.instance]);
    expect(await engine.alive(before, never())).toBe(false);
    await engine.stop(before, 5_000, never());
    expect(marked(place.instance)).toEqual([]);
  });
});

describe("a pid that is somebody else's by now", () => {
  it.each([
    ["another start", (record: object) => ({ ...record, started: "1" })],
    ["another boot", (record: object) => ({ ...record, boot: "an earlier boot" })],
  ])("is left alone: %s", async (_words, change) => {
    const first = rig();
    const place = first.placement("m");
    const before = await load(first.backend("m"), place);
    const path = recordOf(first, place.instance);
    const record = JSON.parse(readFileSync(path, "utf8"));
    await first.backend("m").stop(before, 5_000, never());
    const other = await stranger();
    const [, started] = /\)(?: \S+){19} (\d+)/.exec(readFileSync(`/proc/${other.pid}/stat`, "latin1")) ?? [];
    writeFileSync(path, JSON.stringify(change({ ...record, pid: other.pid, started })));
    const engine = first.again().backend("m");

    const found = await engine.inspect();
    await engine.stop(before, 0, never());
    await engine.close();

    expect(found).toEqual([]);
    expect([other.exitCode, other.signalCode]).toEqual([null, null]);
    process.kill(other.pid ?? 0, 0);
    expect(readdirSync(join(first.dataDir, "engines"))).toEqual(["loads.json"]);
  });
});

describe("records", () => {
  it("are written before anything is started", async () => {
    const given = rig();
    const place = given.placement("m");
    const [node, ...args] = engine().command;
    const over = {
      command: ["sh", "-c", 'ls "$0" > "$0/../seen"; exec "$@"', join(given.dataDir, "engines"), node, ...args],
    };

    await load(given.backend("m", {}, over), place);

    expect(readFileSync(given.file("seen"), "utf8")).toContain(`${place.instance}.json`);
  });

  it("that cannot be read name nobody and stop nothing", async () => {
    const first = rig();
    await load(first.backend("m"), first.placement("m"));
    writeFileSync(recordOf(first, "ins_torn"), '{"marker":"ins_to');
    writeFileSync(recordOf(first, "ins_evil"), JSON.stringify({ marker: "../../x", pid: 1 }));
    const engine = first.again().backend("m");

    expect(await engine.inspect()).toHaveLength(1);
  });
});
