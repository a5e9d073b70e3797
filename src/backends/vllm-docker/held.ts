// A container that the router answers for: what it is called, where its engine is reached, how it ended.

import { isIPv6 } from "node:net";
import type { InstanceId } from "../../domain/ids.ts";
import { LoadError, type Member } from "../backend.ts";
import type { ProbeTarget } from "../probe.ts";
import { LABEL, servedNameOf } from "./container-spec.ts";
import type { DockerAddress } from "./docker-address.ts";
import type { Container } from "./docker-engine.ts";
import type { VllmDockerOptions } from "./options.ts";

export type DockerMember = Member<VllmDockerOptions>;

export interface Held {
  readonly instance: InstanceId;
  readonly member: DockerMember;
  readonly name: string;
  /** What Docker is asked with: the id, or for a container made by others its name, all that a proxy may allow. */
  readonly ref: string;
  readonly origin: string;
  /** False: left by an earlier router with other options than today's; it is only to be stopped. */
  readonly fits: boolean;
  /** In words, once it has ended by itself. */
  ended: string | null;
  /** Its end is ours. */
  stopping: boolean;
  unwatch(): void;
}

export function probeTargetOf({ member, origin }: Pick<Held, "member" | "origin">): ProbeTarget {
  const { spec, options } = member;
  return {
    origin,
    healthPath: options.healthPath,
    servedName: servedNameOf(spec),
    headers: headersOf(options),
    token: options.probe === "auto",
  };
}

export function headersOf({ apiKey }: VllmDockerOptions): Readonly<Record<string, string>> {
  return apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
}

/**
 * Where a running container's engine is reached; null while Docker has not published its port yet.
 *
 * @throws {LoadError} when the container cannot be reached at all
 */
export function originOf(container: Container, options: VllmDockerOptions, address: DockerAddress): string | null {
  if (options.network !== undefined) return `http://${container.name}:${options.port}`;
  if (container.hostNetwork) return `http://${hostIn(options.reachHost ?? address.machine)}:${options.port}`;
  const published = container.ports[`${options.port}/tcp`];
  if (published === undefined || published === null || published.length === 0) {
    if (!options.existing) return null;
    throw new LoadError(
      `the container ${container.name} does not publish port ${options.port}: publish it, or put the router on its network and name that as backend.network`,
    );
  }
  const [first] = published;
  const anywhere = first === undefined || ["", "0.0.0.0", "::"].includes(first.HostIp);
  const host = options.reachHost ?? (anywhere ? address.machine : first.HostIp);
  return `http://${hostIn(host)}:${first?.HostPort ?? ""}`;
}

const hostIn = (host: string): string => (isIPv6(host) ? `[${host}]` : host);

/** Whether this router's prefix is on it. */
export function isOurs({ labels }: Container, { namePrefix }: VllmDockerOptions): boolean {
  return labels[LABEL.managed] === namePrefix;
}

export function endInWords(name: string, container: Container | null): string {
  if (container === null) return `The container ${name} is gone: somebody removed it.`;
  const how = container.oomKilled
    ? `was killed because it ran out of memory (exit code ${container.exitCode})`
    : `ended with exit code ${container.exitCode}${signalOf(container.exitCode)}`;
  return `The container ${name} ${how}.${container.error === "" ? "" : ` Docker says: ${container.error}`}`;
}

function signalOf(code: number): string {
  const names: Readonly<Record<number, string>> = { 134: "SIGABRT", 137: "SIGKILL", 139: "SIGSEGV", 143: "SIGTERM" };
  const name = names[code];
  return name === undefined ? "" : ` (${name})`;
}
