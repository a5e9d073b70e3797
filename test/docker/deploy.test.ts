import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { vllmDockerOptions } from "../../src/backends/vllm-docker/options.ts";
import { vllmDocker } from "../../src/backends/vllm-docker.ts";
import { SystemClock } from "../../src/system/clock.ts";
import { callOf, chatBody, specOf, Taken } from "../backends/samples.ts";
import { eventually } from "../e2e/process.ts";
import { haveProgram } from "./debian.ts";
import { IMAGE } from "./image.ts";
import { docker, dockerHost, load } from "./rig.ts";

const projectRoot = fileURLToPath(new URL("../../", import.meta.url));
const NAMES = ["sir-vllm-chat", "sir-vllm-code"];
const never = (): AbortSignal => new AbortController().signal;

function compose(...words: string[]) {
  return spawnSync("docker-compose", ["-p", "sirtest", ...words], {
    cwd: projectRoot,
    encoding: "utf8",
    env: { ...process.env, DOCKER_HOST: dockerHost(), VLLM_IMAGE: IMAGE },
  });
}

describe("docker-compose.yml", () => {
  beforeAll(() => haveProgram("docker-compose"), 120_000);

  it.each([[[]], [["--profile", "gpu"]], [["--profile", "gpu", "--profile", "metrics"]]])(
    "is valid to Compose 1 with %j",
    (profiles) => {
      const { status, stderr } = compose(...profiles, "config", "--quiet");

      expect([status, stderr]).toEqual([0, ""]);
    },
  );

  it("makes both models' containers without starting them", async () => {
    onTestFinished(() => void compose("--profile", "gpu", "down", "-v"));

    const { status, stderr } = compose("--profile", "gpu", "up", "--no-start", "vllm-chat", "vllm-code");

    expect([status, stderr.includes("ERROR")]).toEqual([0, false]);
    for (const name of NAMES) {
      const { json } = await docker("GET", `/containers/${name}/json`);
      expect(json.State.Status).toBe("created");
      expect(json.HostConfig).toMatchObject({
        Init: true,
        IpcMode: "host",
        RestartPolicy: { Name: "no" },
        DeviceRequests: [{ Driver: "nvidia", DeviceIDs: ["0"], Capabilities: [["gpu"]] }],
      });
    }
  });
});

/** HAProxy with the shipped rules, before this engine's socket. */
async function startProxy(): Promise<{ port: number; end(): void }> {
  haveProgram("haproxy");
  const port = await new Promise<number>((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const { port: free } = probe.address() as AddressInfo;
      probe.close(() => resolve(free));
    });
  });
  const folder = mkdtempSync(join(tmpdir(), "sir-proxy-"));
  const rules = readFileSync(join(projectRoot, "deploy/docker-proxy.cfg"), "utf8")
    .replace("bind :2375", `bind 127.0.0.1:${port}`)
    .replace("unix@/var/run/docker.sock", `unix@${dockerHost().slice("unix://".length)}`);
  writeFileSync(join(folder, "haproxy.cfg"), rules);
  const child = spawn("haproxy", ["-db", "-f", join(folder, "haproxy.cfg")], { stdio: "ignore" });
  await eventually(async () => expect(await through(port, "GET", "/_ping")).toBe(200));
  const end = (): void => {
    child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  };
  return { port, end };
}

function through(port: number, method: string, path: string, body = ""): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = body === "" ? {} : { "content-type": "application/json", "content-length": String(body.length) };
    const asking = request({ host: "127.0.0.1", port, method, path, headers, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    asking.on("error", reject);
    asking.end(body === "" ? undefined : body);
  });
}

/** As Compose makes them, but for the GPU. @returns Their ids. */
async function makeContainers(): Promise<string[]> {
  const ids: string[] = [];
  for (const name of [...NAMES, "stranger"]) {
    const Cmd = ["--served-model-name", name, "--port", "8000"];
    const HostConfig = { Init: true, PortBindings: { "8000/tcp": [{ HostIp: "127.0.0.1", HostPort: "" }] } };
    const { status, json } = await docker("POST", `/containers/create?name=${name}`, {
      Image: IMAGE,
      Cmd,
      HostConfig,
      ExposedPorts: { "8000/tcp": {} },
    });
    expect(status).toBe(201);
    ids.push(json.Id);
  }
  return ids;
}

describe("the socket proxy", () => {
  let port = 0;
  let ids: string[] = [];
  let end = (): void => undefined;
  beforeAll(async () => {
    ids = await makeContainers();
    ({ port, end } = await startProxy());
  }, 120_000);
  afterAll(async () => {
    end();
    for (const id of ids) await docker("DELETE", `/containers/${id}?force=1&v=1`);
  });

  it("lets the router switch its two containers", async () => {
    const members = NAMES.map((containerName) => ({
      spec: specOf(containerName),
      options: vllmDockerOptions.parse({ existing: true, containerName, dockerHost: `tcp://127.0.0.1:${port}` }),
    }));
    const backend = vllmDocker.create(members, { clock: new SystemClock() });
    onTestFinished(() => backend.close());
    const lost: string[] = [];
    backend.onLost?.((_, detail) => lost.push(detail));

    const before = await backend.inspect();
    const chat = await load(backend, "sir-vllm-chat");
    const call = callOf("/v1/chat/completions", chatBody({ model: "sir-vllm-chat" }));
    const outcome = await backend.run(chat.instance, call, new Taken(), never());
    const stopped = await backend.stop(chat.instance, 5000, never());
    const code = await load(backend, "sir-vllm-code");
    const running = await backend.inspect();
    await docker("POST", "/containers/sir-vllm-code/kill");
    await eventually(() => expect(lost).toHaveLength(1), 5000);

    expect([before, outcome, stopped]).toEqual([[], { kind: "succeeded" }, { memory: "unknown" }]);
    expect(running.map(({ instance }) => instance)).toEqual([code.instance.instance]);
    expect(lost[0]).toContain("sir-vllm-code ended with exit code 137");
  });

  it.each([
    ["GET", "/v1.41/containers/json"],
    ["GET", "/v1.41/info"],
    ["GET", "/v1.41/events"],
    ["GET", "/v1.41/containers/stranger/json"],
    ["GET", "/v1.41/containers/sir-vllm-chat/logs?stdout=1"],
    ["GET", "/v1.41/containers/sir-vllm-chat/json/../../../containers/json"],
    ["GET", "/v1.41/containers/sir-vllm-chat%2Fjson"],
    ["GET", "/containers/sir-vllm-chat/json"],
    ["POST", "/v1.41/containers/stranger/start"],
    ["POST", "/v1.41/containers/stranger/stop"],
    ["POST", "/v1.41/containers/sir-vllm-chat/kill"],
    ["POST", "/v1.41/containers/sir-vllm-chat/exec", '{"Cmd":["sh"]}'],
    ["POST", "/v1.41/containers/create?name=x", `{"Image":"${IMAGE}"}`],
    ["POST", "/v1.24/containers/sir-vllm-chat/start"],
    ["POST", "/v1.12/containers/sir-vllm-chat/start", '{"Binds":["/:/host"]}'],
    ["POST", "/v1.41/containers/sir-vllm-chat/start", '{"Binds":["/:/host"]}'],
    ["POST", "/v1.41/images/create?fromImage=x"],
    ["DELETE", "/v1.41/containers/sir-vllm-chat"],
    ["PUT", "/v1.41/containers/sir-vllm-chat/json"],
  ])("refuses %s %s", async (method, path, body = "") => {
    expect(await through(port, method, path, body)).toBe(403);
  });
});
