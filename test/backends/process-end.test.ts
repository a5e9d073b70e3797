// The end of engines: their whole tree, also of what hides, also when they will not; and ends that nobody asked for.

import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { eventually, load, marked, never, rig } from "./engines/rig.ts";
import { callOf, chatBody, Taken } from "./samples.ts";

/** Descendants and others of one session, by `ps`, which knows nothing of our marks. */
function session(leader: number): number[] {
  const text = execFileSync("ps", ["-eo", "pid=,sess=,stat="], { encoding: "utf8" });
  const rows = text
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/));
  return rows.filter(([, sess, stat]) => Number(sess) === leader && !stat?.startsWith("Z")).map(([pid]) => Number(pid));
}

const leaderOf = (marker: string): number => Math.min(...marked(marker));

describe("stopping", () => {
  it("lets an engine end by itself within its grace", async () => {
    const { backend, placement, dataDir } = rig();
    const engine = backend("m");
    const place = placement("m");
    const instance = await load(engine, place);

    const stopped = await engine.stop(instance, 10_000, never());

    expect(stopped).toEqual({ memory: "unknown" });
    expect(await engine.logs(place.model, 1)).toEqual(["shutting down"]);
    expect(marked(place.instance)).toEqual([]);
    expect(readdirSync(join(dataDir, "engines"))).toEqual(["loads.json"]);
  });

  it.each([
    ["stays in its session", "session"],
    ["has left its session", "marked"],
  ])("takes along a grandchild that ignores SIGTERM and %s", async (_words, grandchild) => {
    const { backend, placement } = rig();
    const engine = backend("m", { grandchild }, { stopGraceSeconds: 0.3 });
    const place = placement("m");
    const instance = await load(engine, place);
    const leader = leaderOf(place.instance);
    const before = marked(place.instance).length;

    await engine.stop(instance, 10_000, never());

    expect(before).toBeGreaterThan(1);
    expect(marked(place.instance)).toEqual([]);
    expect(session(leader)).toEqual([]);
  });

  it("takes along a grandchild without any mark that is still in the session", async () => {
    const { backend, placement } = rig();
    const script = `env -u SIR_INSTANCE sh -c 'trap "" TERM; sleep 600' & exec "$0" "$@"`;
    const engine = backend("m", {}, { stopGraceSeconds: 0.3 });
    const wrapped = backend("w", {}, { command: ["sh", "-c", script, ...commandOf()], stopGraceSeconds: 0.3 });
    const place = placement("w");
    const instance = await load(wrapped, place);
    const leader = leaderOf(place.instance);
    const before = session(leader).length;

    await wrapped.stop(instance, 10_000, never());

    expect(before).toBeGreaterThan(marked(place.instance).length + 1);
    expect(session(leader)).toEqual([]);
    await engine.close();
  });

  it("kills an engine that ignores SIGTERM after its grace, and only then resolves", async () => {
    const { backend, placement } = rig();
    const engine = backend("m", { ignoreTerm: true }, { stopGraceSeconds: 0.4 });
    const place = placement("m");
    const instance = await load(engine, place);
    const fromMs = performance.now();

    await engine.stop(instance, 10_000, never());

    expect(performance.now() - fromMs).toBeGreaterThan(390);
    expect(marked(place.instance)).toEqual([]);
    expect(await engine.logs(place.model, 5)).toContain("SIGTERM ignored");
  });

  it("waits no longer for an engine's grace once its time is up", async () => {
    const { backend, placement } = rig();
    const engine = backend("m", { ignoreTerm: true }, { stopGraceSeconds: 30 });
    const place = placement("m");
    const instance = await load(engine, place);
    const upstairs = new AbortController();
    const stopped = engine.stop(instance, 30_000, upstairs.signal);
    await eventually(async () => expect(await engine.logs(place.model, 5)).toContain("SIGTERM ignored"));

    upstairs.abort();

    expect(await stopped).toEqual({ memory: "unknown" });
    expect(marked(place.instance)).toEqual([]);
  });

  it("of one engine lets others work", async () => {
    const { backend, placement } = rig();
    const stuck = backend("stuck", { ignoreTerm: true }, { stopGraceSeconds: 1 });
    const other = backend("other");
    const first = await load(stuck, placement("stuck"));
    const second = await load(other, placement("other"));
    let over = false;
    const stopping = stuck.stop(first, 10_000, never()).then(() => {
      over = true;
    });

    const fromMs = performance.now();
    const outcome = await other.run(second, callOf("/v1/completions", chatBody()), new Taken(), never());
    const tookMs = performance.now() - fromMs;

    expect([outcome.kind, over]).toEqual(["succeeded", false]);
    expect(tookMs).toBeLessThan(500);
    await stopping;
  });
});

describe("an end that nobody asked for", () => {
  it("is told at once, with how and with the last words; the stop after it clears up what is left", async () => {
    const { backend, placement, dataDir } = rig();
    const engine = backend("m", { grandchild: "session" }, { stopGraceSeconds: 0.3 });
    const place = placement("m");
    const told = new Promise<string>((resolve) => engine.onLost?.((id, detail) => resolve(`${id} ${detail}`)));
    const instance = await load(engine, place);
    const others = marked(place.instance).length - 1;
    const fromMs = performance.now();

    process.kill(leaderOf(place.instance), "SIGKILL");
    const words = await told;
    const tookMs = performance.now() - fromMs;

    expect(words).toContain(`${place.instance} `);
    expect(words).toContain("was killed by SIGKILL: by the kernel when memory ran out, or by somebody");
    expect(words).toContain("Application startup complete.");
    expect(words).not.toContain("hf_secret_value");
    expect(tookMs).toBeLessThan(2_000);
    expect(await engine.alive(instance, never())).toBe(false);
    const late = await engine.run(instance, callOf("/v1/completions", chatBody()), new Taken(), never());
    expect(late).toMatchObject({ kind: "lost", detail: expect.stringContaining("SIGKILL") });
    expect(others).toBeGreaterThan(0);
    await engine.stop(instance, 10_000, never());
    expect(marked(place.instance)).toEqual([]);
    expect(existsSync(join(dataDir, "engines", `${place.instance}.json`))).toBe(false);
  });

  it("is no news when it was asked for", async () => {
    const { backend, placement } = rig();
    const engine = backend("m");
    const told: string[] = [];
    engine.onLost?.((_id, detail) => told.push(detail));
    const instance = await load(engine, placement("m"));

    await engine.stop(instance, 10_000, never());
    await new Promise((resolve) => setImmediate(resolve));

    expect(told).toEqual([]);
  });
});

describe("closing", () => {
  it("ends what serves and what is being loaded", async () => {
    const { backend, placement } = rig();
    const serving = placement("a");
    const loading = placement("b");
    const a = backend("a");
    const b = backend("b", { neverHealthy: true });
    await load(a, serving);
    const rejected = expect(b.start(loading, () => {}, never())).rejects.toThrow("given up");
    await eventually(() => expect(marked(loading.instance)).not.toEqual([]));

    await Promise.all([a.close(), b.close()]);

    await rejected;
    expect([...marked(serving.instance), ...marked(loading.instance)]).toEqual([]);
  });
});

function commandOf(): string[] {
  const server = new URL("./engines/vllm-shaped.mjs", import.meta.url).pathname;
  // biome-ignore lint/suspicious/noTemplateCurlyInString: placeholders of the driver
  return [process.execPath, server, "${PORT}", "${MODEL}"];
}
