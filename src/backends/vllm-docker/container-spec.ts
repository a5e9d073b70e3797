// From a model's options to the container that Docker is asked for: pure, so that the same options always give the same
// name and the same hash, by which a container of an earlier router is known again.

import { createHash } from "node:crypto";
import type { DeviceId, ModelName } from "../../domain/ids.ts";
import type { ModelSpec } from "../../domain/model.ts";
import { LoadError, type Placement } from "../backend.ts";
import type { VllmDockerOptions } from "./options.ts";

const BYTES_PER_GIB = 1024 ** 3;

export const LABEL = {
  /** Its value is the prefix of the router that owns the container. */
  managed: "sir.managed",
  model: "sir.model",
  instance: "sir.instance",
  device: "sir.device",
  epoch: "sir.epoch",
  spec: "sir.spec",
} as const;

/** What the engine calls the model. */
export function servedNameOf({ name, upstreamName }: ModelSpec): string {
  return upstreamName ?? name;
}

/** The same for the same model and device, and never the same for two. */
export function containerNameOf(spec: ModelSpec, options: VllmDockerOptions, device: DeviceId | null): string {
  const suffix = spec.devices.length > 1 && device !== null ? `-${slugOf(device)}` : "";
  if (options.containerName !== undefined) return `${options.containerName}${options.existing ? "" : suffix}`;
  return `${options.namePrefix}-${slugOf(spec.name)}${suffix}`;
}

/** A name that Docker takes; where characters were lost, a digest keeps it apart from its likes. */
function slugOf(name: string): string {
  const slug = name.replace(/[^A-Za-z0-9_.-]+/g, "-").slice(0, 60);
  return slug === name ? slug : `${slug}-${createHash("sha256").update(name).digest("hex").slice(0, 6)}`;
}

/** Of everything but who asked for it: another hash is another container. */
export function specHashOf(spec: ModelSpec, options: VllmDockerOptions, device: DeviceId | null): string {
  return createHash("sha256")
    .update(JSON.stringify(bodyOf(spec, options, device)))
    .digest("hex")
    .slice(0, 32);
}

/** The body of `POST /containers/create`. @throws {LoadError} when the device has no GPUs assigned */
export function createBody(spec: ModelSpec, options: VllmDockerOptions, placement: Placement): object {
  const { instance, model, device, epoch } = placement;
  const labels = {
    [LABEL.managed]: options.namePrefix,
    [LABEL.model]: model,
    [LABEL.instance]: instance,
    [LABEL.device]: device ?? "",
    [LABEL.epoch]: String(epoch ?? 0),
    [LABEL.spec]: specHashOf(spec, options, device),
  };
  return { ...bodyOf(spec, options, device), Labels: labels };
}

function bodyOf(spec: ModelSpec, options: VllmDockerOptions, device: DeviceId | null): object {
  const port = `${options.port}/tcp`;
  const env = { ...(options.apiKey === undefined ? {} : { VLLM_API_KEY: options.apiKey }), ...options.env };
  return {
    Image: options.image,
    ...(options.entrypoint === undefined ? {} : { Entrypoint: options.entrypoint }),
    Cmd: [...(options.command ?? vllmArguments(spec, options)), ...options.extraArgs],
    Env: Object.entries(env).map(([name, value]) => `${name}=${value}`),
    ExposedPorts: { [port]: {} },
    StopTimeout: Math.ceil(options.stopGraceSeconds),
    HostConfig: {
      Init: options.init,
      IpcMode: options.ipc,
      Binds: options.mounts,
      DeviceRequests: deviceRequests(spec.name, options.gpus, device),
      Devices: options.devices.map((path) => ({ PathOnHost: path, PathInContainer: path, CgroupPermissions: "rwm" })),
      // A crash is the router's to see and to answer; a restart behind its back would put two models on one GPU.
      RestartPolicy: { Name: "no" },
      LogConfig: { Type: "json-file", Config: { "max-size": "10m", "max-file": "2" } },
      ...(options.network === undefined
        ? {
            PortBindings: {
              [port]: [{ HostIp: options.publish.address, HostPort: String(options.publish.port || "") }],
            },
          }
        : { NetworkMode: options.network }),
      ...(options.runtime === undefined ? {} : { Runtime: options.runtime }),
      ...(options.shmSizeGiB === undefined ? {} : { ShmSize: Math.ceil(options.shmSizeGiB * BYTES_PER_GIB) }),
      ...(options.memoryLimitGiB === undefined ? {} : memoryLimit(options.memoryLimitGiB)),
      ...options.hostConfig,
    },
  };
}

/** Every name that callers may send, since their bytes go through as they are. */
function vllmArguments(spec: ModelSpec, options: VllmDockerOptions): string[] {
  const served = spec.upstreamName === null ? [spec.name, ...spec.aliases] : [spec.upstreamName];
  return [
    "--model",
    options.modelPath ?? spec.name,
    "--served-model-name",
    ...served,
    "--host",
    "0.0.0.0",
    "--port",
    String(options.port),
  ];
}

/** Swap is no place for a model: the limit holds for both together. */
function memoryLimit(gib: number): object {
  const bytes = Math.ceil(gib * BYTES_PER_GIB);
  return { Memory: bytes, MemorySwap: bytes };
}

function deviceRequests(model: ModelName, gpus: VllmDockerOptions["gpus"], device: DeviceId | null): object[] {
  const request = { Driver: "", Capabilities: [["gpu"]] };
  if (gpus === "none") return [];
  if (gpus === "all") return [{ ...request, Count: -1 }];
  if (Array.isArray(gpus)) return [{ ...request, DeviceIDs: gpus }];
  const ids = device === null ? undefined : gpus[device];
  if (ids !== undefined) return [{ ...request, DeviceIDs: ids }];
  throw new LoadError(
    `backend.gpus of the model ${model} names GPUs for ${Object.keys(gpus).join(", ")}, but not for the device ${device ?? "(none)"}`,
  );
}
