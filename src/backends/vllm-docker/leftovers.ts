// What runs already: containers that an earlier router made, known by their labels, and those that others made, by name.

import { createHash } from "node:crypto";
import type { DeviceId, InstanceId, ModelName } from "../../domain/ids.ts";
import type { Instance } from "../backend.ts";
import { containerNameOf, LABEL, specHashOf } from "./container-spec.ts";
import { type Container, containersLabelled, inspectContainer } from "./docker-engine.ts";
import type { DockerHttp } from "./docker-http.ts";
import { type DockerMember, type Held, originOf } from "./held.ts";

const LIST_MS = 5_000;

export interface Found {
  readonly instance: Instance;
  readonly held: Pick<Held, "instance" | "member" | "name" | "ref" | "origin" | "fits">;
  readonly id: string;
}

/** Every container with this router's prefix on it, running or not. */
export async function labelledContainers(docker: DockerHttp, members: readonly DockerMember[]): Promise<Container[]> {
  const makers = members.filter(({ options }) => !options.existing);
  const prefixes = new Set(makers.map(({ options }) => options.namePrefix));
  const lists = [...prefixes].map((prefix) => containersLabelled(docker, `${LABEL.managed}=${prefix}`, LIST_MS));
  const ids = (await Promise.all(lists)).flat();
  const containers = await Promise.all(ids.map((id) => inspectContainer(docker, id)));
  return containers.filter((container) => container !== null);
}

export function instanceLabelOf({ labels }: Container): InstanceId {
  return labels[LABEL.instance] as InstanceId;
}

/** One of a model, a device or options that are not today's is found too, as one that does not fit. */
export function recognise(docker: DockerHttp, members: readonly DockerMember[], container: Container): Found | null {
  const { id, name, labels } = container;
  const instance = instanceLabelOf(container);
  const model = labels[LABEL.model] as ModelName;
  const device = (labels[LABEL.device] || null) as DeviceId | null;
  const epoch = Number(labels[LABEL.epoch]) || 0;
  const own = members.find(({ spec }) => spec.name === model);
  const member = own ?? members.find(({ options }) => !options.existing);
  if (member === undefined) return null;
  const same = own !== undefined && labels[LABEL.spec] === hashOrNull(own, device);
  const origin = same ? originOf(container, member.options, docker.address) : null;
  return {
    instance: { instance, model, device, endpoint: origin ?? "", epoch },
    held: { instance, member, name, ref: id, origin: origin ?? "", fits: origin !== null },
    id,
  };
}

/** Null where today's options give the device no GPUs. */
function hashOrNull({ spec, options }: DockerMember, device: DeviceId | null): string | null {
  try {
    return specHashOf(spec, options, device);
  } catch {
    return null;
  }
}

/** It carries no label of ours: its identity is the container and its start. Null while it does not run. */
export async function recogniseExisting(docker: DockerHttp, member: DockerMember): Promise<Found | null> {
  const { spec, options } = member;
  const name = containerNameOf(spec, options, null);
  const container = await inspectContainer(docker, name);
  if (container === null || !container.running) return null;
  const digest = createHash("sha256").update(`${container.id} ${container.startedAt}`).digest("hex").slice(0, 32);
  const instance = `ins_${digest}` as InstanceId;
  const origin = originOf(container, options, docker.address) ?? "";
  return {
    instance: { instance, model: spec.name, device: null, endpoint: origin, epoch: 0 },
    held: { instance, member, name, ref: name, origin, fits: true },
    id: container.id,
  };
}
