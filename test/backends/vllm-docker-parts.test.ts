import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { containerNameOf, createBody, specHashOf } from "../../src/backends/vllm-docker/container-spec.ts";
import { dockerAddress } from "../../src/backends/vllm-docker/docker-address.ts";
import type { Container } from "../../src/backends/vllm-docker/docker-engine.ts";
import { originOf } from "../../src/backends/vllm-docker/held.ts";
import { LogLines } from "../../src/backends/vllm-docker/log-lines.ts";
import { vllmDockerOptions } from "../../src/backends/vllm-docker/options.ts";
import type { DeviceId } from "../../src/domain/ids.ts";
import { frame } from "./fake-docker.ts";
import { GPU, placementOf, specOf } from "./samples.ts";

const optionsOf = (over: object = {}) => vllmDockerOptions.parse({ image: "vllm:1", ...over });
const bodyOf = (over: object = {}, spec = specOf()) =>
  JSON.parse(JSON.stringify(createBody(spec, optionsOf(over), placementOf(spec.name))));

describe("the container that Docker is asked for", () => {
  it("runs vLLM with every name that callers may send", () => {
    const spec = { ...specOf("Qwen/Qwen3-8B"), aliases: ["chat"] };

    const { Cmd, HostConfig, Labels } = bodyOf({ extraArgs: ["--max-model-len", "4096"] }, spec);

    expect(Cmd.join(" ")).toBe(
      "--model Qwen/Qwen3-8B --served-model-name Qwen/Qwen3-8B chat --host 0.0.0.0 --port 8000 --max-model-len 4096",
    );
    expect(HostConfig).toMatchObject({
      Init: true,
      IpcMode: "host",
      RestartPolicy: { Name: "no" },
      PortBindings: { "8000/tcp": [{ HostIp: "127.0.0.1", HostPort: "" }] },
      DeviceRequests: [{ Count: -1, Capabilities: [["gpu"]] }],
    });
    expect(Labels["sir.managed"]).toBe("sir");
  });

  it("serves only the upstream name where bodies are rewritten to it", () => {
    expect(bodyOf({}, { ...specOf("a"), upstreamName: "real" }).Cmd.slice(2, 4)).toEqual([
      "--served-model-name",
      "real",
    ]);
  });

  it("is given the GPUs of its device", () => {
    const gpus = { gpu0: ["0"], gpu1: ["1"] };

    expect(bodyOf({ gpus }).HostConfig.DeviceRequests[0].DeviceIDs).toEqual(["0"]);
    expect(bodyOf({ gpus: ["GPU-1f"] }).HostConfig.DeviceRequests[0].DeviceIDs).toEqual(["GPU-1f"]);
    expect(bodyOf({ gpus: "none" }).HostConfig.DeviceRequests).toEqual([]);
    expect(() => bodyOf({ gpus: { gpu7: ["7"] } })).toThrow("not for the device gpu0");
  });

  it("is on a network instead of a published port when one is named", () => {
    const { HostConfig } = bodyOf({ network: "sir_default" });

    expect([HostConfig.NetworkMode, HostConfig.PortBindings]).toEqual(["sir_default", undefined]);
  });

  it("has one hash for the same options, and another for any other", () => {
    const hash = (over: object = {}): string => specHashOf(specOf(), optionsOf(over), GPU);

    expect(hash()).toBe(hash());
    expect(
      new Set([hash(), hash({ image: "vllm:2" }), hash({ extraArgs: ["-x"] }), hash({ env: { A: "1" } })]).size,
    ).toBe(4);
  });

  it("never gives two models one name", () => {
    const name = (model: string): string => containerNameOf(specOf(model), optionsOf(), GPU);

    expect(name("chat")).toBe("sir-chat");
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.string({ minLength: 1 }), (one, other) => {
        fc.pre(one !== other);
        expect(name(one)).not.toBe(name(other));
        expect(name(one)).toMatch(/^[A-Za-z0-9][A-Za-z0-9_.-]+$/);
      }),
    );
    const twoDevices = { ...specOf("chat"), devices: [GPU, "gpu1" as DeviceId] };
    expect(containerNameOf(twoDevices, optionsOf(), GPU)).toBe("sir-chat-gpu0");
  });
});

describe("the options", () => {
  it.each([
    [{ image: undefined }, "image", "is needed, unless existing"],
    [{ existing: true }, "containerName", "is needed with existing"],
    [{ dockerHost: "ssh://box" }, "dockerHost", "ssh:// is not supported"],
    [{ mounts: ["/models"] }, "mounts", "must be source:/target"],
  ])("refuse %j in words", (over, path, words) => {
    const { error } = vllmDockerOptions.safeParse({ image: "vllm:1", ...over });

    expect(error?.issues[0]?.path[0]).toBe(path);
    expect(error?.issues[0]?.message).toContain(words);
  });
});

describe("the address of a Docker engine", () => {
  it.each([
    [{}, {}, "http://docker", "/var/run/docker.sock"],
    [{}, { DOCKER_HOST: "unix:///run/user/1000/docker.sock" }, "http://docker", "/run/user/1000/docker.sock"],
    [{}, { DOCKER_HOST: "tcp://gpu-box:2375" }, "http://gpu-box:2375", null],
    [
      {},
      { DOCKER_HOST: "tcp://gpu-box", DOCKER_TLS_VERIFY: "1", DOCKER_CERT_PATH: "/certs" },
      "https://gpu-box:2376",
      null,
    ],
    [
      { dockerHost: "tcp://gpu-box:9" },
      { DOCKER_TLS_VERIFY: "1", DOCKER_CERT_PATH: "/certs" },
      "http://gpu-box:9",
      null,
    ],
    [{ dockerHost: "tcp://gpu-box:9", tlsCertPath: "/mine" }, {}, "https://gpu-box:9", null],
  ])("is read from %j and %j", (given, environment, origin, socketPath) => {
    expect(dockerAddress(given, environment)).toMatchObject({ origin, socketPath });
  });

  it("is refused in words when the environment's cannot be used", () => {
    expect(() => dockerAddress({}, { DOCKER_HOST: "ssh://box" })).toThrow("DOCKER_HOST ssh:// is not supported");
  });
});

describe("a container's log", () => {
  it("comes out the same however it is cut, and with both streams mixed", () => {
    const bytes = Buffer.concat([
      frame("one\ntw"),
      frame("err: é 1\r\n", 2),
      frame("o\n\n"),
      frame("\u001b[31mred\u001b[0m\nlast"),
    ]);
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length), { maxLength: 12 }), (cuts) => {
        const lines = new LogLines(true);
        const at = [0, ...cuts.sort((a, b) => a - b), bytes.length];
        const out = at.slice(1).flatMap((end, i) => lines.push(bytes.subarray(at[i], end)));
        expect([...out, ...lines.end()]).toEqual(["one", "err: é 1", "two", "red", "last"]);
      }),
    );
  });

  it("is taken as it is when the container has a terminal", () => {
    const lines = new LogLines(false);

    expect([...lines.push(Buffer.from("a\r\nb")), ...lines.end()]).toEqual(["a", "b"]);
  });

  it("holds no more of an endless line than its bound", () => {
    const lines = new LogLines(true);
    for (let i = 0; i < 200; i++) lines.push(frame("x".repeat(10_000)));

    expect(lines.end()[0]?.length).toBe(1000);
  });
});

describe("where a container made by others is reached", () => {
  const reached = (container: Partial<Container>, dockerHost = "unix:///var/run/docker.sock", over: object = {}) => {
    const options = optionsOf({ existing: true, containerName: "mine", port: 8_001, ...over });
    const seen = { name: "mine", hostNetwork: false, ports: {}, ...container } as Container;
    return originOf(seen, options, dockerAddress({ dockerHost }, {}));
  };
  const ports = { "8001/tcp": [{ HostIp: "0.0.0.0", HostPort: "9001" }] };

  it("is its published port, or its own where it has the machine's network and publishes none", () => {
    expect(reached({ ports })).toBe("http://127.0.0.1:9001");
    expect(reached({ hostNetwork: true })).toBe("http://127.0.0.1:8001");
    expect(reached({ hostNetwork: true }, "tcp://gpu.lan:2375")).toBe("http://gpu.lan:8001");
    expect(reached({ hostNetwork: true }, "tcp://gpu.lan:2375", { reachHost: "::1" })).toBe("http://[::1]:8001");
    expect(() => reached({})).toThrow("does not publish port 8001");
  });
});
