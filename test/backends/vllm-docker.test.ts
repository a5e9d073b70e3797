import { describe, expect, it } from "vitest";
import { eventually } from "../e2e/process.ts";
import { exerciseBackend } from "./contract.ts";
import { type FakeDocker, fakeDocker } from "./fake-docker.ts";
import { callOf, chatBody, placementOf, Taken } from "./samples.ts";
import { backendOn, loaded, never, rig, vllmLike } from "./vllm-docker-rig.ts";

exerciseBackend(async () => {
  let arrived = (): void => {};
  const midway = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  const fake = await fakeDocker(vllmLike(() => arrived()));
  return {
    backend: backendOn(fake),
    placement: placementOf("chat-model"),
    call: () => callOf("/v1/chat/completions", chatBody()),
    streamed: () => callOf("/v1/chat/completions", chatBody({ stream: true })),
    refused: () => callOf("/v1/chat/completions", {}),
    passing: (promise) => promise,
    midway: () => midway,
  };
});

const only = (fake: FakeDocker) => [...fake.containers.values()].map(({ name, status }) => `${name} ${status}`);

describe("a load into a container", () => {
  it("speaks the engine's own version of the API", async () => {
    const { fake, backend } = await rig();

    await loaded(backend);

    const versions = new Set(fake.asked.filter((line) => !line.includes("_ping")).map((line) => line.split("/")[1]));
    expect([...versions]).toEqual(["v1.41"]);
  });

  it.each([
    ["1.99", "1.24", "v1.51"],
    ["1.99", "1.60", "v1.60"],
  ])("speaks its own version to an engine of %s that still takes %s", async (newest, oldest, spoken) => {
    const { fake, backend } = await rig();
    fake.apiVersion = newest;
    fake.minApiVersion = oldest;

    await loaded(backend);

    expect(fake.asked.at(-1)?.split("/")[1]).toBe(spoken);
  });

  it("does not take a healthy server for an engine until it lists the model and gives a token", async () => {
    const { fake, backend } = await rig();
    const seen: string[] = [];
    const good = fake.engine;
    fake.engine = (request, response, container) => {
      seen.push(request.url ?? "");
      const early = seen.filter((url) => url === request.url).length <= 2;
      if (early && request.url === "/v1/models") return response.end('{"data":[{"id":"another"}]}');
      if (early && request.url === "/v1/completions") return response.writeHead(500).end();
      return good(request, response, container);
    };

    await loaded(backend);

    expect(seen.filter((url) => url === "/v1/completions")).toHaveLength(3);
    expect(seen.filter((url) => url === "/v1/models").length).toBeGreaterThanOrEqual(5);
  });

  it("tries no token at an engine that only embeds", async () => {
    const { fake, backend } = await rig();
    const good = fake.engine;
    fake.engine = (request, response, container) =>
      request.method === "POST" ? response.writeHead(404).end() : good(request, response, container);

    expect((await loaded(backend)).endpoint).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  });

  it("pulls a missing image, and says how far it is", async () => {
    const { fake, backend } = await rig({ image: "vllm/vllm-openai:v9" });
    fake.pull = (response) => {
      const layer = (current: number) =>
        JSON.stringify({ id: "l", status: "Downloading", progressDetail: { current, total: 200 } });
      response.write(`${layer(50)}\r\n${layer(100).slice(0, 20)}`);
      response.end(`${layer(100).slice(20)}\r\n{"status":"Download complete","id":"l"}\r\n`);
      fake.images.add("vllm/vllm-openai:v9");
    };
    const progress: unknown[] = [];

    await loaded(backend, (each) => each.phase === "pulling" && progress.push(each.progress));

    expect(progress).toEqual([null, 0.25, 0.5, 1]);
    expect(
      fake.asked.some((line) => line.includes("fromImage=vllm%2Fvllm-openai%3Av9") && !line.includes("tag=")),
    ).toBe(true);
  });

  it("tells in Docker's words why a pull failed", async () => {
    const { fake, backend } = await rig({ image: "vllm/nothing" });
    fake.pull = (response) => response.end('{"error":"manifest unknown"}\n');

    await expect(loaded(backend)).rejects.toThrow("pulling vllm/nothing failed: manifest unknown");
    expect(fake.asked.some((line) => line.includes("tag=latest"))).toBe(true);
  });

  it("says what a missing GPU runtime means", async () => {
    const { fake, backend } = await rig();
    fake.interfere = (line, response) => {
      if (!/POST .*\/start$/.test(line)) return false;
      response.writeHead(500, { "content-type": "application/json" });
      response.end('{"message":"could not select device driver \\"\\" with capabilities: [[gpu]]"}');
      return true;
    };

    await expect(loaded(backend)).rejects.toThrow(/NVIDIA container toolkit/);
    expect(only(fake)).toEqual([]);
  });

  it.each([
    ["the image is looked for", /GET .*\/images\//],
    ["the container is made", /POST .*\/containers\/create/],
    ["the container starts", /POST .*\/start$/],
    ["the port is looked for", /GET .*\/containers\/0{9}\d*1\/json$/],
    ["the log is opened", /GET .*\/logs/],
  ])("is given up at once while %s", async (_when, line) => {
    const { fake, backend } = await rig();
    const stop = new AbortController();
    fake.engine = (_request, response) => response.writeHead(503).end();
    fake.interfere = (asked) => {
      if (line.test(asked)) stop.abort();
      return false;
    };

    const load = backend.start(placementOf("chat-model"), () => {}, stop.signal);

    await expect(load).rejects.toThrow("the load was given up");
    expect(only(fake)).toEqual([]);
  });

  it("hides the secrets it gave the engine from the engine's last words", async () => {
    const { fake, backend } = await rig({ env: { HF_TOKEN: "hf_secret_value" } });
    fake.engine = (_request, _response, container) => {
      container.log.push("401 for hf_secret_value", "gave up");
      fake.exit("sir-chat-model", 1);
    };

    const error = await loaded(backend).catch((reason: unknown) => reason);

    expect(error).toMatchObject({
      message: "The container sir-chat-model ended with exit code 1.",
      logTail: ["401 for ***", "gave up"],
    });
  });
});

describe("an engine in a container that ends", () => {
  it("is told though the stream of events broke meanwhile", async () => {
    const { fake, backend } = await rig();
    const lost: string[] = [];
    backend.onLost?.((_, detail) => lost.push(detail));
    const instance = await loaded(backend);
    // The look that every watch begins with is over by then.
    await backend.inspect();
    fake.interfere = (line, response) => {
      if (line.includes("/events")) response.writeHead(403).end();
      return line.includes("/events");
    };
    fake.breakStreams();

    fake.exit("sir-chat-model", 137, true);

    await eventually(() => expect(lost).toHaveLength(1));
    expect(lost[0]).toContain("was killed because it ran out of memory (exit code 137)");
    const late = await backend.run(instance, callOf("/v1/chat/completions", chatBody()), new Taken(), never());
    expect(late.kind).toBe("lost");
  });

  it("is no news when it was stopped", async () => {
    const { backend } = await rig();
    const lost: string[] = [];
    backend.onLost?.((_, detail) => lost.push(detail));
    const instance = await loaded(backend);

    await backend.stop(instance, 1000, never());
    await backend.inspect();

    expect(lost).toEqual([]);
  });
});

describe("a stop", () => {
  it("that Docker refuses becomes a kill, and is verified", async () => {
    const { fake, backend } = await rig();
    const instance = await loaded(backend);
    fake.interfere = (line, response) => {
      if (!line.includes("/stop?")) return false;
      response.writeHead(500).end('{"message":"cannot stop container"}');
      return true;
    };

    await backend.stop(instance, 1000, never());

    expect(fake.asked.some((line) => line.includes("/kill"))).toBe(true);
    expect(only(fake)).toEqual([]);
  });

  it("of an engine that nothing ends is an error, not a silence", async () => {
    const { fake, backend } = await rig();
    const instance = await loaded(backend);
    fake.interfere = (line, response) => {
      if (!/\/(stop|kill)(\?|$)/.test(line)) return false;
      response.writeHead(500).end('{"message":"cannot stop container: permission denied"}');
      return true;
    };
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 300);

    await expect(backend.stop(instance, 1000, stop.signal)).rejects.toThrow(/still runs after SIGTERM and SIGKILL/);
    expect(only(fake)).toEqual(["sir-chat-model running"]);
  });
});
