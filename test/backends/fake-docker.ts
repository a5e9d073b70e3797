// A Docker engine on a unix socket as its API reference describes it, without containers: each is a vLLM-shaped server in
// this process. What it should do wrong is set by the test.

import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { bodyOf } from "./upstream.ts";

export interface FakeContainer {
  readonly id: string;
  readonly name: string;
  // biome-ignore lint/suspicious/noExplicitAny: what the driver sent, as it came
  readonly spec: any;
  status: "created" | "running" | "exited";
  exitCode: number;
  oomKilled: boolean;
  log: string[];
  server: Server | null;
  port: number;
}

type Answer = (request: IncomingMessage, response: ServerResponse, container: FakeContainer) => unknown;

export interface FakeDocker {
  readonly host: string;
  readonly containers: Map<string, FakeContainer>;
  readonly images: Set<string>;
  /** Every request, e.g. `POST /v1.41/containers/create?name=sir-a`. */
  readonly asked: string[];
  apiVersion: string;
  minApiVersion: string;
  /** First look at each request; true: it was answered, or is never to be. */
  interfere: (line: string, response: ServerResponse) => boolean;
  /** The engine in each container. */
  engine: Answer;
  /** What a pull sends. */
  pull: (response: ServerResponse) => void;
  /** Ends a container as if by itself. */
  exit(name: string, code: number, oomKilled?: boolean): void;
  /** Breaks every stream of events. */
  breakStreams(): void;
}

const json = (response: ServerResponse, status: number, value: unknown): void => {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(value));
};

/** As Docker frames a log without a terminal. */
export function frame(text: string, stream = 1): Buffer {
  const head = Buffer.alloc(8);
  head[0] = stream;
  head.writeUInt32BE(Buffer.byteLength(text), 4);
  return Buffer.concat([head, Buffer.from(text)]);
}

export async function fakeDocker(engine: Answer): Promise<FakeDocker> {
  const folder = mkdtempSync(join(tmpdir(), "sir-fake-docker-"));
  const socket = join(folder, "docker.sock");
  const streams = new Set<ServerResponse>();
  let count = 0;
  const find = (ref: string): FakeContainer | undefined =>
    [...fake.containers.values()].find(({ id, name }) => id === ref || name === ref);
  const tell = (container: FakeContainer, action: string): void => {
    const event = { Type: "container", Action: action, Actor: { ID: container.id } };
    for (const stream of streams) stream.write(`${JSON.stringify(event)}\n`);
  };
  const halt = (container: FakeContainer, code: number): void => {
    if (container.status !== "running") return;
    container.status = "exited";
    container.exitCode = code;
    container.server?.closeAllConnections();
    container.server?.close();
    container.server = null;
    tell(container, "die");
  };
  const run = async (container: FakeContainer): Promise<void> => {
    const server = createServer((request, response) => void fake.engine(request, response, container));
    await new Promise<void>((resolve) => server.listen(container.port, "127.0.0.1", () => resolve()));
    container.port = (server.address() as AddressInfo).port;
    container.server = server;
    container.status = "running";
  };

  const fake: FakeDocker = {
    host: `unix://${socket}`,
    containers: new Map(),
    images: new Set(["vllm:1"]),
    asked: [],
    apiVersion: "1.41",
    minApiVersion: "1.12",
    interfere: () => false,
    engine,
    pull: (response) => response.end(),
    exit: (name, code, oomKilled = false) => {
      const container = find(name);
      if (container === undefined) throw new Error(`no container ${name}`);
      container.oomKilled = oomKilled;
      halt(container, code);
    },
    breakStreams: () => {
      for (const stream of streams) stream.destroy();
    },
  };

  async function create(request: IncomingMessage, response: ServerResponse, name: string): Promise<void> {
    const spec = JSON.parse((await bodyOf(request)).toString());
    if (!fake.images.has(spec.Image)) return json(response, 404, { message: `No such image: ${spec.Image}` });
    if (find(name) !== undefined)
      return json(response, 409, { message: `Conflict. The container name "/${name}" is already in use` });
    const id = (++count).toString(16).padStart(64, "0");
    fake.containers.set(id, {
      id,
      name,
      spec,
      status: "created",
      exitCode: 0,
      oomKilled: false,
      log: [],
      server: null,
      port: 0,
    });
    json(response, 201, { Id: id, Warnings: [] });
  }

  const inspected = ({ id, name, spec, status, exitCode, oomKilled, port }: FakeContainer): object => ({
    Id: id,
    Name: `/${name}`,
    Created: "2026-01-01T00:00:00Z",
    Config: { Image: spec.Image, Tty: false, Labels: spec.Labels },
    State: {
      Status: status,
      Running: status === "running",
      Restarting: false,
      OOMKilled: oomKilled,
      ExitCode: exitCode,
      Error: "",
      StartedAt: "2026-01-01T00:00:01Z",
    },
    NetworkSettings: {
      Ports: status === "running" ? { "8000/tcp": [{ HostIp: "127.0.0.1", HostPort: String(port) }] } : {},
    },
  });

  async function containerCall(verb: string, container: FakeContainer, response: ServerResponse): Promise<unknown> {
    if (verb === "GET json") return json(response, 200, inspected(container));
    if (verb === "POST start") {
      if (container.status === "running") return response.writeHead(304).end();
      await run(container);
      return response.writeHead(204).end();
    }
    if (verb === "POST stop" || verb === "POST kill") {
      if (container.status !== "running") return response.writeHead(verb === "POST kill" ? 409 : 304).end();
      halt(container, verb === "POST kill" ? 137 : 0);
      return response.writeHead(204).end();
    }
    if (verb === "GET logs") {
      response.writeHead(200, { "content-type": "application/octet-stream" });
      return response.end(Buffer.concat(container.log.map((line) => frame(`${line}\n`, 2))));
    }
    if (verb !== "DELETE ") return json(response, 404, { message: "page not found" });
    halt(container, 137);
    fake.containers.delete(container.id);
    tell(container, "destroy");
    return response.writeHead(204).end();
  }

  const server = createServer(async (request, response) => {
    const line = `${request.method} ${request.url}`;
    fake.asked.push(line);
    if (fake.interfere(line, response)) return;
    const url = new URL(request.url ?? "", "http://docker");
    const path = url.pathname.replace(/^\/v1\.\d+/, "");
    if (path === "/_ping") return response.writeHead(200, { "api-version": fake.apiVersion }).end("OK");
    if (path === "/version")
      return json(response, 200, { ApiVersion: fake.apiVersion, MinAPIVersion: fake.minApiVersion });
    if (path === "/events") {
      streams.add(response);
      response.once("close", () => streams.delete(response));
      response.writeHead(200).flushHeaders();
      return;
    }
    if (path === "/containers/create") return create(request, response, url.searchParams.get("name") ?? "");
    if (path === "/containers/json") {
      const [label = ""] = JSON.parse(url.searchParams.get("filters") ?? "{}").label as string[];
      const [key = "", value] = label.split("=");
      return json(
        response,
        200,
        [...fake.containers.values()].filter(({ spec }) => spec.Labels?.[key] === value).map(({ id }) => ({ Id: id })),
      );
    }
    if (path === "/images/create") return fake.pull(response);
    const [, image] = /^\/images\/(.+)\/json$/.exec(path) ?? [];
    if (image !== undefined) {
      const known = fake.images.has(decodeURIComponent(image));
      return json(response, known ? 200 : 404, known ? { Id: "sha256:1" } : { message: "No such image" });
    }
    const [, ref = "", verb = ""] = /^\/containers\/([^/]+)(?:\/(\w+))?$/.exec(path) ?? [];
    const container = find(ref);
    if (container === undefined) return json(response, 404, { message: `No such container: ${ref}` });
    return containerCall(`${request.method} ${verb}`, container, response);
  });
  await new Promise<void>((resolve) => server.listen(socket, () => resolve()));
  onTestFinished(() => {
    for (const container of fake.containers.values()) halt(container, 0);
    server.close();
    server.closeAllConnections();
    rmSync(folder, { recursive: true, force: true });
  });
  return fake;
}
