import { describe, expect, it } from "vitest";
import { type FakeDocker, fakeDocker } from "./fake-docker.ts";
import { placementOf, specOf } from "./samples.ts";
import { backendOf, backendOn, loaded, never, optionsOn, rig, vllmLike } from "./vllm-docker-rig.ts";

const only = (fake: FakeDocker) => [...fake.containers.values()].map(({ name, status }) => `${name} ${status}`);

describe("what an earlier router left", () => {
  it("is removed when it does not run any more", async () => {
    const { fake, backend } = await rig();
    await loaded(backend);
    fake.exit("sir-chat-model", 0);

    const found = await backendOn(fake).inspect();

    expect([found, only(fake)]).toEqual([[], []]);
  });

  it("is listed but not alive when its model is not in the configuration, and can be stopped", async () => {
    const { fake, backend } = await rig();
    await loaded(backend);
    const later = backendOn(fake, {}, "another-model");

    const [found] = await later.inspect();
    if (found === undefined) throw new Error("nothing was found");
    const alive = await later.alive(found, never());
    await later.stop(found, 1000, never());

    expect([found.model, alive, only(fake)]).toEqual(["chat-model", false, []]);
  });

  it("is not alive when its options are not today's any more", async () => {
    const { fake, backend } = await rig();
    await loaded(backend);
    const later = backendOn(fake, { extraArgs: ["--max-model-len", "4096"] });

    const [found] = await later.inspect();
    if (found === undefined) throw new Error("nothing was found");

    expect(await later.alive(found, never())).toBe(false);
  });

  it("is not seen by a router with another prefix", async () => {
    const { fake, backend } = await rig();
    await loaded(backend);

    expect(await backendOn(fake, { namePrefix: "lab" }).inspect()).toEqual([]);
    expect(only(fake)).toEqual(["sir-chat-model running"]);
  });

  it("is cleared away before a load when the engine could not be asked at boot", async () => {
    const { fake, backend } = await rig();
    await loaded(backend);
    const later = backendOn(fake, {}, "another-model");
    fake.interfere = (_line, response) => {
      response.writeHead(500).end('{"message":"starting"}');
      return true;
    };
    await expect(later.inspect()).rejects.toThrow();
    fake.interfere = () => false;

    await later.start(placementOf("another-model"), () => {}, never());

    expect(only(fake)).toEqual(["sir-another-model running"]);
  });
});

describe("a container that others made", () => {
  const made = async (running: boolean) => {
    const fake = await fakeDocker(vllmLike());
    const maker = backendOn(fake, { containerName: "vllm-chat", namePrefix: "compose" });
    const instance = await loaded(maker);
    const [container] = [...fake.containers.values()];
    if (container === undefined) throw new Error("no container");
    container.spec.Labels = {};
    if (!running) fake.exit("vllm-chat", 0);
    fake.asked.length = 0;
    const backend = backendOn(fake, { existing: true, containerName: "vllm-chat", image: undefined });
    return { fake, backend, instance };
  };

  it("is only started, stopped and inspected, by its name", async () => {
    const { fake, backend } = await made(false);
    fake.interfere = (line, response) => {
      if (/^(GET|POST) \/(_ping|v1\.41\/containers\/vllm-chat\/(json|start|stop(\?.*)?))$/.test(line)) return false;
      response.writeHead(403).end();
      return true;
    };

    const before = await backend.inspect();
    const instance = await loaded(backend);
    const during = await backend.inspect();
    await backend.stop(instance, 1000, never());

    expect(before).toEqual([]);
    expect(during.map((each) => each.instance)).toEqual([instance.instance]);
    expect(only(fake)).toEqual(["vllm-chat exited"]);
  });

  it("is adopted when it runs", async () => {
    const { backend } = await made(true);

    const [found] = await backend.inspect();
    if (found === undefined) throw new Error("nothing was found");

    expect(found.instance).toMatch(/^ins_[0-9a-f]{32}$/);
    expect(await backend.alive(found, never())).toBe(true);
    expect((await backend.inspect()).map(({ instance }) => instance)).toEqual([found.instance]);
  });

  it("is stopped before another is loaded when the engine could not be asked at boot", async () => {
    const { fake } = await made(true);
    const two = [
      { spec: specOf("chat-model"), options: optionsOn(fake, { existing: true, containerName: "vllm-chat" }) },
      { spec: specOf("code-model"), options: optionsOn(fake) },
    ];
    const backend = backendOf(two);
    fake.interfere = (_line, response) => {
      response.writeHead(500).end();
      return true;
    };
    await expect(backend.inspect()).rejects.toThrow();
    fake.interfere = () => false;

    await backend.start(placementOf("code-model"), () => {}, never());

    expect(only(fake)).toEqual(["vllm-chat exited", "sir-code-model running"]);
  });

  it("is missed in words when nobody made it", async () => {
    const fake = await fakeDocker(vllmLike());
    const backend = backendOn(fake, { existing: true, containerName: "vllm-chat" });

    await expect(loaded(backend)).rejects.toThrow("there is no container vllm-chat: make it first");
  });
});
