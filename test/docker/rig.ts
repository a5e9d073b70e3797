// What the tests against a real Docker engine share: options of a test engine, a driver in this process, a look at what
// Docker has.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inject, onTestFinished } from "vitest";
import type { Backend, Instance, LoadProgress } from "../../src/backends/backend.ts";
import { vllmDockerOptions } from "../../src/backends/vllm-docker/options.ts";
import { vllmDocker } from "../../src/backends/vllm-docker.ts";
import { SystemClock } from "../../src/system/clock.ts";
import { placementOf, specOf } from "../backends/samples.ts";
import { IMAGE } from "./image.ts";

export const dockerHost = (): string => inject("dockerHost");

/** Of every container of these tests: a router of the machine's own has another. */
export const PREFIX = "sirtest";

export interface Knobs {
  readonly env?: Readonly<Record<string, string>>;
  readonly [option: string]: unknown;
}

/** A folder that the containers share; whoever is loaded listens in it. */
export function sharedGpu(): { readonly folder: string; overlaps(): string[] } {
  const folder = mkdtempSync(join(tmpdir(), "sir-gpu-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return {
    folder,
    overlaps() {
      try {
        return readFileSync(join(folder, "gpu.overlaps"), "utf8").trim().split("\n");
      } catch {
        return [];
      }
    },
  };
}

/** Options as they stand in a configuration. */
export function backendOf({ env = {}, ...over }: Knobs, gpuFolder?: string): Record<string, unknown> {
  return {
    dockerHost: dockerHost(),
    image: IMAGE,
    namePrefix: PREFIX,
    pullPolicy: "never",
    gpus: "none",
    ipc: "private",
    env: { ...(gpuFolder === undefined ? {} : { GPU_LOCK: "/gpu/gpu" }), ...env },
    ...(gpuFolder === undefined ? {} : { mounts: [`${gpuFolder}:/gpu`] }),
    ...over,
  };
}

export function driverFor(models: Readonly<Record<string, Knobs>>): Backend {
  const members = Object.entries(models).map(([name, knobs]) => ({
    spec: specOf(name),
    options: vllmDockerOptions.parse(backendOf(knobs)),
  }));
  const backend = vllmDocker.create(members, { clock: new SystemClock() });
  onTestFinished(async () => {
    await removeOurs();
    await backend.close();
  });
  return backend;
}

export interface Loaded {
  readonly instance: Instance;
  readonly phases: LoadProgress[];
}

export async function load(backend: Backend, model: string, id = `ins_${model}`): Promise<Loaded> {
  const phases: LoadProgress[] = [];
  const placement = placementOf(model, id);
  const { endpoint } = await backend.start(
    placement,
    (progress) => phases.push(progress),
    new AbortController().signal,
  );
  return { instance: { ...placement, endpoint, epoch: 1 }, phases };
}

export interface DockerReply {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: Docker's own answers, as they come
  readonly json: any;
}

/** Docker's API, beside the driver and without its code. */
export function docker(method: string, path: string, body?: object): Promise<DockerReply> {
  const socketPath = dockerHost().slice("unix://".length);
  return new Promise((resolve, reject) => {
    const headers = body === undefined ? {} : { "content-type": "application/json" };
    const asking = request({ socketPath, method, path, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => {
        const text = Buffer.concat(chunks).toString();
        resolve({
          status: response.statusCode ?? 0,
          json: text.startsWith("{") || text.startsWith("[") ? JSON.parse(text) : text,
        });
      });
    });
    asking.on("error", reject);
    asking.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** Names of the tests' containers, running or not. */
export async function containerNames(): Promise<string[]> {
  const { json } = await docker("GET", "/containers/json?all=1");
  return (json as { Names: string[] }[])
    .map(({ Names }) => (Names[0] ?? "").slice(1))
    .filter((name) => name.startsWith(PREFIX))
    .sort();
}

export async function containerId(name: string): Promise<string | null> {
  const { status, json } = await docker("GET", `/containers/${name}/json`);
  return status === 200 ? json.Id : null;
}

/** The engine's own process as this machine sees it: beneath the small init. */
export async function enginePid(name: string): Promise<number> {
  const { json } = await docker("GET", `/containers/${name}/json`);
  const init = Number(json.State.Pid);
  const children = readFileSync(`/proc/${init}/task/${init}/children`, "utf8").trim();
  return Number(children.split(" ")[0] || init);
}

export async function removeOurs(): Promise<void> {
  const filters = encodeURIComponent(JSON.stringify({ label: [`sir.managed=${PREFIX}`] }));
  const { json } = await docker("GET", `/containers/json?all=1&filters=${filters}`);
  for (const { Id } of json as { Id: string }[]) await docker("DELETE", `/containers/${Id}?force=1&v=1`);
}
