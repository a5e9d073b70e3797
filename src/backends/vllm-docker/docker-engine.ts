// The calls of the Docker Engine API that a container driver needs, each bounded in time. A container that is not there
// is null, not an error.

import { z } from "zod";
import { type DockerAnswer, DockerError, type DockerHttp } from "./docker-http.ts";
import { LogLines } from "./log-lines.ts";

const QUICK_MS = 10_000;
const CREATE_MS = 30_000;
/** Runtimes that bring up GPUs take their time. */
const START_MS = 120_000;
const REMOVE_MS = 30_000;
/** What a stop may take beyond its grace. */
const STOP_SLACK_MS = 15_000;

const containerShape = z.looseObject({
  Id: z.string(),
  Name: z.string(),
  Created: z.string().optional(),
  Config: z.looseObject({
    Image: z.string().optional(),
    Tty: z.boolean().optional(),
    Labels: z.record(z.string(), z.string()).nullish(),
  }),
  State: z.looseObject({
    Status: z.string(),
    Running: z.boolean(),
    Restarting: z.boolean().optional(),
    OOMKilled: z.boolean().optional(),
    ExitCode: z.number().optional(),
    Error: z.string().optional(),
    StartedAt: z.string().optional(),
  }),
  HostConfig: z.looseObject({ NetworkMode: z.string().optional() }).optional(),
  NetworkSettings: z.looseObject({
    Ports: z
      .record(z.string(), z.array(z.looseObject({ HostIp: z.string(), HostPort: z.string() })).nullable())
      .nullish(),
  }),
});

const listShape = z.array(z.looseObject({ Id: z.string() }));
const createdShape = z.looseObject({ Id: z.string() });

export interface Container {
  readonly id: string;
  readonly name: string;
  readonly image: string;
  readonly created: string;
  readonly startedAt: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly tty: boolean;
  /** Docker's own word: created, running, paused, restarting, removing, exited, dead. */
  readonly status: string;
  readonly running: boolean;
  readonly exitCode: number;
  readonly oomKilled: boolean;
  /** Why it could not be started. */
  readonly error: string;
  /** It has the machine's own network, where nothing is published. */
  readonly hostNetwork: boolean;
  /** `8000/tcp` to where it is published. */
  readonly ports: Readonly<Record<string, readonly { readonly HostIp: string; readonly HostPort: string }[] | null>>;
}

const at = (ref: string, verb = ""): string => `/containers/${encodeURIComponent(ref)}${verb}`;

export async function inspectContainer(docker: DockerHttp, ref: string): Promise<Container | null> {
  const { status, json } = await docker.ask({ method: "GET", path: at(ref, "/json"), limitMs: QUICK_MS });
  if (status === 404) return null;
  const { Id, Name, Created, Config, State, HostConfig, NetworkSettings } = shaped(containerShape, json, "inspect");
  return {
    id: Id,
    name: Name.replace(/^\//, ""),
    image: Config.Image ?? "",
    created: Created ?? "",
    startedAt: State.StartedAt ?? "",
    labels: Config.Labels ?? {},
    tty: Config.Tty ?? false,
    status: State.Status,
    running: State.Running && State.Restarting !== true,
    exitCode: State.ExitCode ?? 0,
    oomKilled: State.OOMKilled ?? false,
    error: State.Error ?? "",
    hostNetwork: HostConfig?.NetworkMode === "host",
    ports: NetworkSettings.Ports ?? {},
  };
}

/** Ids of the containers, running or not, that carry the label. */
export async function containersLabelled(docker: DockerHttp, label: string, limitMs: number): Promise<string[]> {
  const query = { all: "true", filters: JSON.stringify({ label: [label] }) };
  const { json } = await docker.ask({ method: "GET", path: "/containers/json", query, limitMs });
  return shaped(listShape, json, "list").map(({ Id }) => Id);
}

/** @throws {DockerError} 409 when the name is taken, 404 when the image is missing */
export async function createContainer(docker: DockerHttp, name: string, body: object): Promise<string> {
  const answer = await docker.ask({
    method: "POST",
    path: "/containers/create",
    query: { name },
    body,
    limitMs: CREATE_MS,
  });
  found(answer, "the image is not there");
  return shaped(createdShape, answer.json, "create").Id;
}

/** One that runs already stays as it is. @throws {DockerError} with the engine's own words, e.g. of a missing GPU runtime */
export async function startContainer(docker: DockerHttp, ref: string): Promise<void> {
  found(await docker.ask({ method: "POST", path: at(ref, "/start"), limitMs: START_MS }), "there is no such container");
}

/** SIGTERM, and SIGKILL after the grace: both done by Docker, so that they happen even if nobody waits for them. */
export async function stopContainer(
  docker: DockerHttp,
  ref: string,
  graceMs: number,
  signal?: AbortSignal,
): Promise<void> {
  const query = { t: String(Math.ceil(graceMs / 1000)) };
  const limitMs = graceMs + STOP_SLACK_MS;
  await docker.ask({ method: "POST", path: at(ref, "/stop"), query, limitMs, ...(signal && { signal }) });
}

/** One that does not run any more is no error. */
export async function killContainer(docker: DockerHttp, ref: string): Promise<void> {
  await docker.ask({ method: "POST", path: at(ref, "/kill"), limitMs: QUICK_MS }).catch((error: unknown) => {
    if (!(error instanceof DockerError) || error.status !== 409) throw error;
  });
}

/** Kills and removes it, with its anonymous volumes. One that is gone, or going, is no error. */
export async function removeContainer(docker: DockerHttp, ref: string): Promise<void> {
  const query = { force: "true", v: "true" };
  await docker.ask({ method: "DELETE", path: at(ref), query, limitMs: REMOVE_MS }).catch((error: unknown) => {
    if (!(error instanceof DockerError) || error.status !== 409) throw error;
  });
}

export async function hasImage(docker: DockerHttp, image: string): Promise<boolean> {
  const path = `/images/${image.split("/").map(encodeURIComponent).join("/")}/json`;
  return (await docker.ask({ method: "GET", path, limitMs: QUICK_MS })).status !== 404;
}

/** The newest lines, oldest first; what came of them in time. */
export async function logTail(docker: DockerHttp, container: Container, lines: number): Promise<string[]> {
  const late = new AbortController();
  const timer = docker.clock.at(docker.clock.nowMs() + QUICK_MS, () => late.abort());
  const kept: string[] = [];
  try {
    for await (const line of followLog(docker, container, { lines, follow: false }, late.signal)) {
      if (kept.push(line) > lines) kept.shift();
    }
    return kept;
  } finally {
    timer.cancel();
  }
}

/** Lines as they come, until the container ends or the signal is aborted. */
export async function* followLog(
  docker: DockerHttp,
  container: Container,
  /** Infinite: the whole log. */
  which: { readonly lines: number; readonly follow: boolean },
  signal: AbortSignal,
): AsyncGenerator<string> {
  const query = {
    stdout: "true",
    stderr: "true",
    tail: Number.isFinite(which.lines) ? String(which.lines) : "all",
    follow: String(which.follow),
  };
  const path = at(container.id, "/logs");
  const body = await docker.stream({ method: "GET", path, query, limitMs: QUICK_MS, signal });
  const decoder = new LogLines(!container.tty);
  try {
    for await (const chunk of body as AsyncIterable<Uint8Array>) yield* decoder.push(chunk);
    yield* decoder.end();
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    body.destroy();
  }
}

export function shaped<T>(shape: z.ZodType<T>, json: unknown, what: string): T {
  const parsed = shape.safeParse(json);
  if (parsed.success) return parsed.data;
  throw new DockerError(`the Docker engine's answer to ${what} is not what its API describes`, null);
}

function found({ status, json }: DockerAnswer, otherwise: string): void {
  if (status !== 404) return;
  const said = typeof json === "object" && json !== null && "message" in json ? String(json.message) : otherwise;
  throw new DockerError(said.slice(0, 500), 404);
}
