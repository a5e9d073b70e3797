// A container driver on a fake Docker engine, with engines that answer like vLLM.

import type { IncomingMessage, ServerResponse } from "node:http";
import { onTestFinished } from "vitest";
import type { Backend, Instance, LoadProgress, Member } from "../../src/backends/backend.ts";
import { type VllmDockerOptions, vllmDockerOptions } from "../../src/backends/vllm-docker/options.ts";
import { vllmDocker } from "../../src/backends/vllm-docker.ts";
import { SystemClock } from "../../src/system/clock.ts";
import { type FakeContainer, type FakeDocker, fakeDocker } from "./fake-docker.ts";
import { placementOf, specOf } from "./samples.ts";
import { bodyOf } from "./upstream.ts";

export const never = (): AbortSignal => new AbortController().signal;

/** Healthy at once, serves what its arguments say, streams one chunk and its end. */
export function vllmLike(arrived: () => void = () => {}) {
  return async (request: IncomingMessage, response: ServerResponse, { spec }: FakeContainer): Promise<unknown> => {
    response.setHeader("content-type", "application/json");
    if (request.url === "/health") return response.end();
    const args: string[] = spec.Cmd;
    const served = args[args.indexOf("--served-model-name") + 1];
    if (request.url === "/v1/models") return response.end(JSON.stringify({ data: [{ id: served }] }));
    const body = (await bodyOf(request)).toString();
    if (request.url === "/v1/completions") return response.end('{"choices":[{"text":"1"}]}');
    if (!body.includes("messages")) return response.writeHead(400).end('{"error":{"message":"no messages"}}');
    if (!body.includes('"stream":true')) return response.end('{"id":"x"}');
    response.setHeader("content-type", "text/event-stream");
    response.write('data: {"choices":[]}\n\n', arrived);
    return setTimeout(() => response.end("data: [DONE]\n\n"), 50);
  };
}

export function optionsOn(fake: FakeDocker, over: Record<string, unknown> = {}): VllmDockerOptions {
  return vllmDockerOptions.parse({ dockerHost: fake.host, image: "vllm:1", gpus: "none", ...over });
}

export function backendOf(members: readonly Member<VllmDockerOptions>[]): Backend {
  const backend = vllmDocker.create(members, { clock: new SystemClock() });
  onTestFinished(() => backend.close());
  return backend;
}

export function backendOn(fake: FakeDocker, over: Record<string, unknown> = {}, model = "chat-model"): Backend {
  return backendOf([{ spec: specOf(model), options: optionsOn(fake, over) }]);
}

export async function rig(over: Record<string, unknown> = {}): Promise<{ fake: FakeDocker; backend: Backend }> {
  const fake = await fakeDocker(vllmLike());
  return { fake, backend: backendOn(fake, over) };
}

export async function loaded(
  backend: Backend,
  report: (progress: LoadProgress) => void = () => {},
  id = "ins_one",
): Promise<Instance> {
  const placement = placementOf("chat-model", id);
  const { endpoint } = await backend.start(placement, report, never());
  return { ...placement, endpoint, epoch: 1 };
}
