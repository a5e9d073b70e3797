// What the engines of a model say, over the containers that come and go: the newest lines, and those that follow.

import { type Clock, sleepUntil } from "../../domain/clock.ts";
import { type Container, followLog, inspectContainer, logTail } from "./docker-engine.ts";
import { DockerError, type DockerHttp } from "./docker-http.ts";

/** How often a next container is looked for. */
const NEXT_MS = 1_000;

export interface LogSource {
  readonly docker: DockerHttp;
  readonly clock: Clock;
  /** The model's container of the moment. */
  ref(): string;
}

/** Empty where Docker, or a proxy before it, gives no log. */
export async function tailOf(docker: DockerHttp, container: Container, lines: number): Promise<readonly string[]> {
  return logTail(docker, container, lines).catch(() => []);
}

/** Goes on with the next container when one ends; ends with the signal. @throws {DockerError} when no log may be read */
export async function* followContainers(source: LogSource, lines: number, signal: AbortSignal): AsyncGenerator<string> {
  const { docker, clock } = source;
  let told: string | null = null;
  while (!signal.aborted) {
    const container = await inspectContainer(docker, source.ref()).catch(() => null);
    if (container !== null && container.id !== told) {
      const first = told === null;
      told = container.id;
      // Of a container that came while we looked on, nothing is to be missed.
      const wanted = first ? lines : Number.POSITIVE_INFINITY;
      try {
        yield* followLog(docker, container, { lines: wanted, follow: true }, signal);
      } catch (error) {
        if (error instanceof DockerError && error.status !== null) throw error;
      }
    }
    await sleepUntil(clock, clock.nowMs() + NEXT_MS, signal);
  }
}
