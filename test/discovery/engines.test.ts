import { createServer, type Server } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { addressesOf, findEngines, USUAL_PORTS } from "../../src/discovery/engine-search.ts";
import { ollamaHost } from "../../src/discovery/engines/ollama.ts";
import { answering, ENGINES, LLAMA_ROUTER, surroundings } from "./fakes.ts";

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

const look = async (routes: Readonly<Record<string, unknown>>, around = surroundings()) => {
  const server = await answering(routes);
  const found = await findEngines([server.origin], around);
  return { server, ...found, engine: found.engines[0] };
};

describe("an engine is known by what it answers, on any port", () => {
  it.each(Object.keys(ENGINES) as (keyof typeof ENGINES)[])("%s", async (kind) => {
    const { engine, engines, strangers } = await look(ENGINES[kind]);

    expect([engine?.kind, engines.length, strangers]).toEqual([kind, 1, []]);
  });

  it("and nothing is asked of it that could make it load, start or stop something", async () => {
    for (const routes of [...Object.values(ENGINES), LLAMA_ROUTER]) {
      const { server } = await look(routes);

      expect(server.asked.filter((each) => !each.startsWith("GET ") && each !== "POST /api/show")).toEqual([]);
    }
  });

  it("Ollama tells sizes, the cache a conversation needs, what is loaded, and what only seems to be here", async () => {
    const { engine } = await look(ENGINES.ollama);

    const cache = { bytesPerToken: 147_456, tokens: null, mostTokens: 40_960 };
    expect(engine).toMatchObject({ version: "0.14.2", loads: true, notes: ["qwen3:8b lies partly in CPU memory"] });
    expect(engine?.models).toEqual([
      { name: "qwen3:8b", weightsGiB: 4.87, cache, loadedGiB: 9.1, unfit: null },
      { name: "gpt-oss:120b", weightsGiB: 60.88, cache, loadedGiB: null, unfit: null },
      expect.objectContaining({ name: "kimi:cloud", unfit: expect.stringContaining("cloud") }),
    ]);
  });

  it("Ollama tells the context that a model is loaded with where its Modelfile sets one, and a window as it is", async () => {
    const model_info = { ...ENGINES.ollama["/api/show"].model_info, "qwen3.attention.sliding_window": 1_024 };
    const shown = {
      model_info,
      parameters: 'stop                           "<end>"\nnum_ctx                        512',
    };

    const { engine } = await look({ ...ENGINES.ollama, "/api/show": shown });

    expect(engine?.models[0]?.cache).toEqual({ bytesPerToken: 73_728, tokens: 512, mostTokens: 40_960 });
  });

  it("vLLM tells its version, its context and whether it can sleep", async () => {
    const { engine } = await look(ENGINES.vllm);

    expect(engine).toMatchObject({ version: "0.18.1", loads: false, notes: ["sleep mode on", "context 32768"] });
  });

  it("vLLM's own command line tells how many requests it takes", async () => {
    const server = await answering(ENGINES.vllm);
    const cmdline = [
      "/usr/bin/python3",
      "/opt/bin/vllm",
      "serve",
      "m",
      "--port",
      String(server.port),
      "--max-num-seqs=48",
    ];
    const around = surroundings({ files: { "/proc/42/cmdline": `${cmdline.join("\0")}\0` } });

    const { engines } = await findEngines([server.origin], around);

    expect(engines[0]?.slots).toBe(48);
  });

  it.each(["/server_info", "/get_server_info"])("SGLang tells how many requests it takes at %s", async (path) => {
    const { engine } = await look({ "/v1/models": ENGINES.sglang["/v1/models"], [path]: { max_running_requests: 7 } });

    expect(engine).toMatchObject({ kind: "sglang", slots: 7 });
  });

  it("llama-server in router mode can be told to load; alone it cannot", async () => {
    const alone = await look(ENGINES["llama-server"]);
    const router = await look(LLAMA_ROUTER);

    expect(alone.engine).toMatchObject({ loads: false, slots: 3, notes: ["context 8192"] });
    expect(router.engine).toMatchObject({ kind: "llama-server", loads: true, notes: ["router mode"] });
  });

  it("llama-swap's configuration is found in its command line", async () => {
    const cmdline = "/usr/local/bin/llama-swap\0--config\0/etc/llama-swap.yaml\0--listen\0:8080\0";
    const { engine } = await look(ENGINES["llama-swap"], surroundings({ files: { "/proc/7/cmdline": cmdline } }));

    expect(engine?.notes).toEqual(["sir import llama-swap /etc/llama-swap.yaml takes over its configuration"]);
  });

  it("LM Studio before 0.4 is used as it stands", async () => {
    const { engine } = await look({ "/api/v0/models": { data: [{ id: "old", state: "not-loaded" }] } });

    expect(engine).toMatchObject({ kind: "lmstudio", loads: false, models: [{ name: "old" }] });
  });
});

it("an engine that is busy and takes most of a second for each answer is not taken for another", async () => {
  const { origin } = await answering(ENGINES.ollama, 0, 800);

  const { engines } = await findEngines([origin], surroundings());

  expect(engines.map(({ kind }) => kind)).toEqual(["ollama"]);
});

describe("a wrong thing on the right port", () => {
  it("that serves pages is a stranger", async () => {
    const { engine, strangers } = await look({ "*": "<html>hello</html>" });

    expect(engine).toBeUndefined();
    expect(strangers[0]?.status).toBe(200);
  });

  it("that asks for a key is told apart", async () => {
    const { strangers } = await look({ "/v1/models": 401, "/version": { version: "0.18.1" } });

    expect(strangers[0]?.status).toBe(401);
  });

  it("that answers everything with the same JSON is no engine", async () => {
    const { engine } = await look({ "*": { version: "1", status: "ok", running: true, models: {}, data: "x" } });

    expect(engine).toBeUndefined();
  });

  it("that takes requests and never answers is given up, and asked nothing more", async () => {
    const { strangers, server } = await look({ "*": "nothing" });

    expect([strangers[0]?.status, server.asked]).toEqual([0, ["GET /v1/models"]]);
  });

  it("that is no HTTP at all is a stranger", async () => {
    const server = createServer((socket) => void socket.end("SSH-2.0-OpenSSH_9.9\r\n"));
    const port = await listening(server);
    onTestFinished(() => void server.close());

    const { engines, strangers } = await findEngines([`http://127.0.0.1:${port}`], surroundings());

    expect([engines, strangers.length]).toEqual([[], 1]);
  });

  it("that nobody listens on is nothing", async () => {
    const server = createServer();
    const port = await listening(server);
    await new Promise((resolve) => server.close(resolve));

    const { engines, strangers } = await findEngines([`http://127.0.0.1:${port}`], surroundings());

    expect([engines, strangers]).toEqual([[], []]);
  });
});

describe("addresses", () => {
  it("are loopback on the usual ports, and what was named besides", () => {
    const around = surroundings({ environment: { OLLAMA_HOST: "0.0.0.0:12000" } });

    const all = addressesOf(around, ["gpu.lan:9000", "other"]);

    expect(all.slice(0, USUAL_PORTS.length)).toEqual(USUAL_PORTS.map((port) => `http://127.0.0.1:${port}`));
    expect(all.slice(USUAL_PORTS.length)).toEqual([
      "http://127.0.0.1:12000",
      "http://gpu.lan:9000",
      ...USUAL_PORTS.map((port) => `http://other:${port}`),
    ]);
  });

  it.each([
    ["", null],
    ["0.0.0.0", "http://127.0.0.1:11434"],
    [":9", "http://127.0.0.1:9"],
    ["box", "http://box:11434"],
    ["https://box:443/path", "https://box"],
    ["[::]:5", "http://127.0.0.1:5"],
    ["not a host", null],
  ])("OLLAMA_HOST %j is %j", (given, expected) => {
    expect(ollamaHost(surroundings({ environment: { OLLAMA_HOST: given } }))).toBe(expected);
  });
});
