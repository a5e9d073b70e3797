import { describe, expect, it } from "vitest";
import { LoadError } from "../../src/backends/backend.ts";
import { callOf, chatBody, placementOf, specOf, Taken } from "../backends/samples.ts";
import { eventually } from "../e2e/process.ts";
import { IMAGE } from "./image.ts";
import { containerId, containerNames, docker, driverFor, enginePid, load } from "./rig.ts";

const never = (): AbortSignal => new AbortController().signal;

async function fault(loading: Promise<unknown>): Promise<LoadError> {
  const error = await loading.then(
    () => new Error("it loaded"),
    (reason: unknown) => reason,
  );
  if (!(error instanceof LoadError)) throw error;
  return error;
}

describe("a container of a real Docker engine", () => {
  it("loads, answers, stops and is gone", async () => {
    const backend = driverFor({ chat: { env: { LOAD_SECONDS: "0.4" } } });

    const { instance, phases } = await load(backend, "chat");
    const { json } = await docker("GET", "/containers/sirtest-chat/json");
    const sink = new Taken();
    const outcome = await backend.run(
      instance,
      callOf("/v1/chat/completions", chatBody({ model: "chat" })),
      sink,
      never(),
    );
    const log = await backend.logs(specOf("chat").name, 3);
    const stopped = await backend.stop(instance, 10_000, never());

    expect(phases.map(({ phase }) => phase)).toEqual(expect.arrayContaining(["starting", "loading", "warming"]));
    expect(json.Config.Labels).toMatchObject({
      "sir.managed": "sirtest",
      "sir.model": "chat",
      "sir.instance": "ins_chat",
      "sir.device": "gpu0",
    });
    expect(outcome).toEqual({ kind: "succeeded" });
    expect(sink.json).toMatchObject({ choices: [{ message: { content: "t0 t1 t2 t3" } }] });
    expect(log.at(-1)).toBe("INFO Application startup complete.");
    expect(stopped).toEqual({ memory: "unknown" });
    expect(await containerNames()).not.toContain("sirtest-chat");
    expect((await backend.logs(specOf("chat").name, 3)).at(-1)).toMatch(/startup complete|shutting down/);
  });

  it("follows the log of a model over its containers", async () => {
    const backend = driverFor({ chat: {} });
    const model = specOf("chat").name;
    const stop = new AbortController();
    const heard: string[] = [];
    const first = await load(backend, "chat");
    const following = (async () => {
      for await (const line of backend.followLogs?.(model, 1, stop.signal) ?? []) heard.push(line);
    })();
    await eventually(() => expect(heard).toEqual(["INFO Application startup complete."]));

    await backend.stop(first.instance, 5000, never());
    await load(backend, "chat", "ins_next");
    await eventually(() => expect(heard.filter((line) => line.includes("startup complete"))).toHaveLength(2));
    stop.abort();
    await following;

    expect(heard).toContain("INFO shutting down");
    expect(heard.at(2)).toContain("vLLM API server version");
  });

  it("tells an exit in mid-load by its code and its log, at once", async () => {
    const backend = driverFor({ chat: { env: { EXIT_AT_LOAD: "3" } } });

    const error = await fault(load(backend, "chat"));

    expect(error.message).toBe("The container sirtest-chat ended with exit code 3.");
    expect(error.logTail.join("\n")).toContain("Engine core initialization failed");
    expect(await containerNames()).toEqual([]);
  });

  it("tells that a load ran out of memory", async () => {
    const backend = driverFor({ chat: { env: { OOM_AT: "load" }, memoryLimitGiB: 0.15 } });

    const error = await fault(load(backend, "chat"));

    expect(error.message).toContain("ran out of memory");
    expect(await containerNames()).toEqual([]);
  });

  it("tells the loss of a running engine at once, with its last words", async () => {
    const backend = driverFor({ chat: {} });
    const lost: [string, string][] = [];
    backend.onLost?.((instance, detail) => lost.push([instance, detail]));
    const { instance } = await load(backend, "chat");

    process.kill(await enginePid("sirtest-chat"), "SIGKILL");
    const killedMs = performance.now();
    await eventually(() => expect(lost).toHaveLength(1), 3000);
    const tookMs = performance.now() - killedMs;

    expect(lost[0]?.[0]).toBe(instance.instance);
    expect(lost[0]?.[1]).toMatch(/sirtest-chat ended with exit code 137 \(SIGKILL\)[\s\S]*startup complete/);
    expect(tookMs).toBeLessThan(2000);
    expect(await backend.alive(instance, never())).toBe(false);
    await backend.stop(instance, 1000, never());
    expect(await containerNames()).toEqual([]);
  });

  it("kills an engine that ignores SIGTERM once its grace is over", async () => {
    const backend = driverFor({ chat: { env: { IGNORE_SIGTERM: "1" } } });
    const { instance } = await load(backend, "chat");
    const startedMs = performance.now();

    await backend.stop(instance, 2000, never());

    const tookMs = performance.now() - startedMs;
    expect(tookMs).toBeGreaterThan(1900);
    expect(tookMs).toBeLessThan(6000);
    expect(await containerNames()).toEqual([]);
  });

  it("stops an engine that is still loading without waiting for the grace", async () => {
    const backend = driverFor({ chat: { env: { LOAD_SECONDS: "60" } } });
    const stop = new AbortController();
    const loading = backend.start(placementOf("chat"), () => {}, stop.signal);
    loading.catch(() => undefined);
    await eventually(async () => expect(await containerId("sirtest-chat")).not.toBeNull());
    const startedMs = performance.now();

    stop.abort();

    expect((await fault(loading)).message).toBe("the load was given up");
    expect(await containerNames()).toEqual([]);
    expect(performance.now() - startedMs).toBeLessThan(3000);
  });

  it("leaves a stranger's container alone, and names it", async () => {
    const backend = driverFor({ chat: {} });
    await docker("POST", "/containers/create?name=sirtest-chat", { Image: IMAGE, Cmd: ["--port", "1"] });

    const error = await fault(load(backend, "chat"));

    const id = await containerId("sirtest-chat");
    await docker("DELETE", "/containers/sirtest-chat?force=1");
    expect(error.message).toContain(
      "the container name sirtest-chat is taken by a container that this router did not make",
    );
    expect(id).not.toBeNull();
    await load(backend, "chat");
  });

  it("replaces its own container of another specification", async () => {
    const first = driverFor({ chat: {} });
    await load(first, "chat");
    const before = await containerId("sirtest-chat");
    const second = driverFor({ chat: { env: { LOAD_SECONDS: "0.1" } } });

    const found = await second.inspect();
    const fits = await Promise.all(found.map((each) => second.alive(each, never())));
    await load(second, "chat", "ins_next");

    expect(found.map(({ instance }) => instance)).toEqual(["ins_chat"]);
    expect(fits).toEqual([false]);
    expect(await containerId("sirtest-chat")).not.toBe(before);
    expect(await containerNames()).toEqual(["sirtest-chat"]);
  });

  it("knows its container again after a restart, and adopts it", async () => {
    const first = driverFor({ chat: {} });
    const { instance } = await load(first, "chat");
    await first.close();
    const second = driverFor({ chat: {} });

    const [found] = await second.inspect();
    if (found === undefined) throw new Error("nothing was found");
    const alive = await second.alive(found, never());
    const outcome = await second.run(
      found,
      callOf("/v1/chat/completions", chatBody({ model: "chat" })),
      new Taken(),
      never(),
    );

    expect(found).toMatchObject({
      instance: instance.instance,
      model: "chat",
      device: "gpu0",
      endpoint: instance.endpoint,
    });
    expect([alive, outcome.kind]).toEqual([true, "succeeded"]);
  });

  it("says which image is missing", async () => {
    const backend = driverFor({
      chat: { image: "sir-no-such-image:1" },
      code: { image: "localhost:1/nothing:1", pullPolicy: "missing" },
    });

    const never = await fault(load(backend, "chat"));
    const missing = await fault(load(backend, "code"));

    expect(never.message).toContain("sir-no-such-image:1 is not on the Docker engine");
    expect(missing.message).toContain("pulling localhost:1/nothing:1 failed");
  });
});
