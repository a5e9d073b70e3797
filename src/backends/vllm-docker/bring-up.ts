// From an image to an engine that answers: name free, image there, container made and started, port known, token seen.

import { type Clock, sleepUntil } from "../../domain/clock.ts";
import { LoadError, type LoadProgress, type Placement } from "../backend.ts";
import { containerNameOf, createBody, LABEL } from "./container-spec.ts";
import { createContainer, followLog, inspectContainer, removeContainer, startContainer } from "./docker-engine.ts";
import { DockerError, type DockerHttp } from "./docker-http.ts";
import { ensureImage } from "./docker-pull.ts";
import { type DockerMember, isOurs, originOf } from "./held.ts";

const PORT_MS = 10_000;
const GONE_MS = 10_000;
const PAUSE_MS = 50;

export interface BringUp {
  readonly docker: DockerHttp;
  readonly clock: Clock;
  readonly member: DockerMember;
  readonly placement: Placement;
  readonly report: (progress: LoadProgress) => void;
  readonly signal: AbortSignal;
}

export interface Up {
  readonly id: string;
  readonly name: string;
  readonly ref: string;
  readonly origin: string;
}

/** Image and container, not started. @returns Whether the image had to be pulled. @throws {LoadError} */
export async function makeContainer(up: BringUp): Promise<{ ref: string; pulled: boolean }> {
  const { docker, clock, member, placement, report, signal } = up;
  const { spec, options } = member;
  const name = containerNameOf(spec, options, placement.device);
  if (options.existing) return { ref: name, pulled: false };
  const image = options.image ?? "";
  const pulled = await ensureImage(docker, clock, { image, policy: options.pullPolicy, report, signal });
  await freeTheName(up, name);
  givenUp(signal);
  try {
    // Not ended by the signal: what was asked for would be made all the same, and nobody would know of it.
    return { ref: await createContainer(docker, name, createBody(spec, options, placement)), pulled };
  } catch (error) {
    if (error instanceof DockerError && error.status === 409) throw nameTaken(name, null, error);
    throw error;
  }
}

/** The container runs; its engine need not answer yet. @throws {LoadError} */
export async function startMade({ docker, clock, member, report, signal }: BringUp, ref: string): Promise<Up> {
  givenUp(signal);
  report({ phase: "starting", progress: null });
  try {
    await startContainer(docker, ref);
  } catch (error) {
    throw startFault(error, ref, member);
  }
  report({ phase: "loading", progress: null });
  const untilMs = clock.nowMs() + PORT_MS;
  for (;;) {
    givenUp(signal);
    const container = await inspectContainer(docker, ref);
    if (container === null) throw new LoadError(`the container ${ref} was removed while it started`);
    const origin = originOf(container, member.options, docker.address);
    if (origin !== null) return { id: container.id, name: container.name, ref, origin };
    // One that has ended already has no ports; whoever watches it says so better.
    if (!container.running) return { id: container.id, name: container.name, ref, origin: "http://127.0.0.1:1" };
    if (clock.nowMs() >= untilMs)
      throw new LoadError(`Docker did not publish port ${member.options.port} of ${container.name}`);
    await sleepUntil(clock, clock.nowMs() + PAUSE_MS, signal);
  }
}

/** Removes what of ours has the name; what is not ours is nobody's to remove. */
async function freeTheName({ docker, clock, member, signal }: BringUp, name: string): Promise<void> {
  const before = await inspectContainer(docker, name);
  if (before === null) return;
  if (!isOurs(before, member.options)) throw nameTaken(name, before.image);
  await removeContainer(docker, before.id);
  if (!(await untilGone(docker, clock, before.id, signal))) {
    throw new LoadError(`the container ${name} of an earlier load could not be removed`);
  }
}

/** True once Docker knows it no more. */
export async function untilGone(docker: DockerHttp, clock: Clock, id: string, signal?: AbortSignal): Promise<boolean> {
  const untilMs = clock.nowMs() + GONE_MS;
  while ((await inspectContainer(docker, id)) !== null) {
    if (clock.nowMs() >= untilMs || signal?.aborted === true) return false;
    await sleepUntil(clock, clock.nowMs() + PAUSE_MS, signal);
  }
  return true;
}

/** Tells how far the weights are, as vLLM's log says; ends with the signal or the container. */
export async function followLoading({ docker, report }: BringUp, ref: string, signal: AbortSignal): Promise<void> {
  try {
    const container = await inspectContainer(docker, ref);
    if (container === null) return;
    let shown = -1;
    for await (const line of followLog(docker, container, { lines: 0, follow: true }, signal)) {
      const [, percent] = /Loading \S+ checkpoint shards:\s+(\d{1,3})%/.exec(line) ?? [];
      const progress = percent === undefined ? null : Math.min(100, Number(percent));
      if (progress === null || progress === shown) continue;
      shown = progress;
      report({ phase: "loading", progress: progress / 100 });
    }
  } catch {
    // A log that cannot be read costs the progress, not the load.
  }
}

export function givenUp(signal: AbortSignal): void {
  if (signal.aborted) throw new LoadError("the load was given up");
}

function nameTaken(name: string, image: string | null, cause?: unknown): LoadError {
  const what = image === null ? "" : ` (image ${image || "unknown"})`;
  return new LoadError(
    `the container name ${name} is taken by a container that this router did not make${what}; it carries no label ${LABEL.managed} of ours. Remove or rename it, or give the model another backend.containerName`,
    [],
    cause,
  );
}

function startFault(error: unknown, ref: string, { options }: DockerMember): unknown {
  if (!(error instanceof DockerError)) return error;
  if (options.existing && error.status === 404) {
    return new LoadError(
      `there is no container ${ref}: make it first (docker-compose up --no-start), or leave out existing`,
      [],
      error,
    );
  }
  const mend = /could not select device driver/.test(error.message)
    ? ': the Docker engine has no NVIDIA container toolkit, or its host no GPU (backend.gpus: "none" for an engine without)'
    : "";
  return new LoadError(`the container could not be started: ${error.message}${mend}`, [], error);
}
