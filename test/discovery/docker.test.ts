import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findDockers } from "../../src/discovery/docker.ts";
import { ownPort } from "../../src/discovery/own-port.ts";
import { answering, surroundings } from "./fakes.ts";

const CONTAINERS = [
  { Id: "1", Names: ["/vllm-oss"], Image: "vllm/vllm-openai:v0.20.0", State: "running", Ports: [{ PublicPort: 8000 }] },
  {
    Id: "2",
    Names: ["/tei-embed"],
    Image: "ghcr.io/huggingface/text-embeddings-inference:1.8",
    State: "exited",
    Ports: [],
  },
  { Id: "3", Names: ["/db"], Image: "postgres:17", State: "running", Ports: [] },
  { Id: "4", Names: ["/code"], Image: "vllm/vllm-openai:v0.20.0", State: "exited", Ports: [] },
];
const GPU = { DeviceRequests: [{ Capabilities: [["gpu"]] }], NetworkMode: "bridge" };
const ENGINE = {
  "/version": { Version: "29.4.0", Components: [{ Name: "Engine" }] },
  "/containers/json": CONTAINERS,
  "/containers/1/json": {
    Args: ["--model=openai/gpt-oss-20b", "--served-model-name", "oss", "oss-20b"],
    HostConfig: GPU,
  },
  "/containers/2/json": { Args: ["--model-id", "BAAI/bge-m3"], HostConfig: {} },
  "/containers/4/json": { Args: ["serve", "Qwen/Coder", "--port", "9"], HostConfig: { ...GPU, NetworkMode: "host" } },
};

function socketOf(root: string, path: string): string {
  mkdirSync(join(root, path, ".."), { recursive: true });
  return join(root, path);
}

describe("container engines", () => {
  it("are found by their sockets, with the containers that hold an engine", async () => {
    const around = surroundings();
    const server = await answering(ENGINE, socketOf(around.root, "/var/run/docker.sock"));

    const { dockers, shutDockers } = await findDockers(around);

    expect([dockers[0]?.kind, dockers[0]?.version, shutDockers]).toEqual(["docker", "29.4.0", []]);
    expect(dockers[0]?.containers).toMatchObject([
      {
        name: "vllm-oss",
        engine: "vllm",
        running: true,
        hostPorts: [8000],
        servedNames: ["oss", "oss-20b"],
        usesGpu: true,
      },
      { name: "tei-embed", engine: "tei", running: false, servedNames: ["BAAI/bge-m3"], usesGpu: false },
      { name: "code", engine: "vllm", running: false, port: 9, hostPorts: [9], servedNames: ["Qwen/Coder"] },
    ]);
    expect(server.asked.every((each) => each.startsWith("GET "))).toBe(true);
  });

  it("Podman's too, of this user", async () => {
    const around = surroundings({ environment: { XDG_RUNTIME_DIR: "/run/user/1000" } });
    const version = { Version: "5.6.0", Components: [{ Name: "Podman Engine" }] };
    await answering({ "/version": version }, socketOf(around.root, "/run/user/1000/podman/podman.sock"));

    const { dockers } = await findDockers(around);

    expect(dockers).toMatchObject([{ kind: "podman", version: "5.6.0", containers: [] }]);
  });

  it("whose socket may not be used are said, with what to do", async () => {
    const around = surroundings();
    const path = socketOf(around.root, "/var/run/docker.sock");
    await answering(ENGINE, path);
    chmodSync(path, 0);
    const root = process.getuid?.() === 0;
    // Root may use every socket.
    if (root) process.seteuid?.(65_534);

    const { dockers, shutDockers } = await findDockers(around).finally(() => {
      if (root) process.seteuid?.(0);
    });

    expect(dockers).toEqual([]);
    expect(shutDockers).toMatchObject([
      { why: "permission denied", mend: expect.stringContaining("usermod -aG docker") },
    ]);
  });

  it("whose socket nobody serves are said", async () => {
    const around = surroundings({ environment: { DOCKER_HOST: "tcp://127.0.0.1:1" } });
    writeFileSync(socketOf(around.root, "/var/run/docker.sock"), "");

    const { shutDockers } = await findDockers(around);

    expect(shutDockers.map(({ why }) => why)).toEqual(["nobody answers", "nobody answers"]);
  });

  it("that are something else are said", async () => {
    const around = surroundings();
    await answering({ "*": "<html>" }, socketOf(around.root, "/var/run/docker.sock"));

    const { shutDockers } = await findDockers(around);

    expect(shutDockers[0]?.why).toBe("no answer (not Docker's API)");
  });
});

describe("the router's own port", () => {
  it("is the first that is free, and says which were held", async () => {
    const [first, second] = [await answering({}), await answering({})];

    const own = await ownPort("127.0.0.1", [first.port, second.port, 0]);

    expect(own).toEqual({ port: 0, held: [first.port, second.port] });
  });
});
