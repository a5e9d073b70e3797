// The end of a container: SIGTERM, the grace, SIGKILL, and then a look that it is really over.

import { type Clock, sleepUntil } from "../../domain/clock.ts";
import { LoadError } from "../backend.ts";
import { untilGone } from "./bring-up.ts";
import { type Container, inspectContainer, killContainer, removeContainer, stopContainer } from "./docker-engine.ts";
import { DockerError, type DockerHttp } from "./docker-http.ts";
import type { Held } from "./held.ts";

const KILLED_MS = 10_000;
const PAUSE_MS = 50;

export interface Stop {
  readonly container: Container;
  readonly held: Pick<Held, "ref" | "name" | "member">;
  readonly graceMs: number;
  readonly signal?: AbortSignal;
}

/** Removes what is ours; what others made only stops. @throws {LoadError} when it still runs */
export async function stopUntilGone(docker: DockerHttp, clock: Clock, stop: Stop): Promise<void> {
  const { container, held, graceMs, signal } = stop;
  const { existing } = held.member.options;
  let fault = "";
  try {
    await stopContainer(docker, held.ref, graceMs, signal);
  } catch (error) {
    if (!(error instanceof DockerError)) throw error;
    fault = error.message;
    // A proxy may allow no kill; Docker's own stop has done it then.
    if (!existing) await killContainer(docker, held.ref).catch(() => undefined);
  }
  await untilOver(docker, clock, stop, fault);
  if (existing) return;
  // It holds no memory any more; if removing fails, the next load of the model replaces it.
  await removeContainer(docker, container.id).catch(() => undefined);
  await untilGone(docker, clock, container.id, signal).catch(() => false);
}

async function untilOver(
  docker: DockerHttp,
  clock: Clock,
  { container, held, signal }: Stop,
  fault: string,
): Promise<void> {
  const untilMs = clock.nowMs() + KILLED_MS;
  for (;;) {
    const now = await inspectContainer(docker, held.ref);
    if (now === null || now.id !== container.id || !now.running) return;
    if (clock.nowMs() >= untilMs || signal?.aborted === true) {
      const why = fault === "" ? "" : ` Docker says: ${fault}.`;
      throw new LoadError(
        `the container ${held.name} still runs after SIGTERM and SIGKILL.${why} See \`docker inspect ${held.name}\``,
      );
    }
    await sleepUntil(clock, clock.nowMs() + PAUSE_MS, signal);
  }
}
