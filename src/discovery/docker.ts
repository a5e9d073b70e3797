// Docker and Podman engines on this machine: which sockets answer, and which containers hold an inference engine. Only
// reads; a container's environment, where keys are kept, is not looked at.

import { existsSync } from "node:fs";
import { request } from "node:http";
import type { FoundContainer, FoundDocker, ShutDocker } from "./found.ts";
import { listAt, member, numberAt, textAt } from "./json-reading.ts";
import { flagValue, PROBE_MS, type Surroundings } from "./surroundings.ts";

const ANSWER_BYTES = 8 * 1024 * 1024;
const MOST_CONTAINERS = 100;

/** What an image's name is known for, and where its server listens unless told otherwise. */
const IMAGES: readonly (readonly [pattern: RegExp, engine: string, port: number])[] = [
  [/vllm/, "vllm", 8_000],
  [/sglang/, "sglang", 30_000],
  [/llama\.?cpp|llama-server/, "llama.cpp", 8_080],
  [/ollama/, "ollama", 11_434],
  [/text-embeddings-inference|(^|[/-])tei/, "tei", 80],
];

export async function findDockers(
  surroundings: Surroundings,
): Promise<{ dockers: readonly FoundDocker[]; shutDockers: readonly ShutDocker[] }> {
  const seen = await Promise.all(hostsOf(surroundings).map(lookAt));
  const answers = seen.filter((each) => each !== null);
  return {
    dockers: answers.flatMap((each) => ("version" in each ? each : [])),
    shutDockers: answers.flatMap((each) => ("why" in each ? each : [])),
  };
}

function hostsOf({ environment, root }: Surroundings): readonly string[] {
  const given = environment["DOCKER_HOST"];
  const runtime = environment["XDG_RUNTIME_DIR"];
  const usual = [
    "/var/run/docker.sock",
    "/run/podman/podman.sock",
    ...(runtime ? [`${runtime}/podman/podman.sock`] : []),
  ].map((path) => `unix://${root}${path}`);
  return [...new Set([...(given ? [given] : []), ...usual])];
}

async function lookAt(dockerHost: string): Promise<FoundDocker | ShutDocker | null> {
  if (dockerHost.startsWith("unix://") && !existsSync(dockerHost.slice("unix://".length))) return null;
  const version = await ask(dockerHost, "/version");
  if (typeof version === "string") return shut(dockerHost, version);
  const list = await ask(dockerHost, "/containers/json?all=1");
  const listed = typeof list === "string" ? [] : (listAt(list) ?? []);
  const held = listed.filter((each) => engineOf(textAt(each, "Image") ?? "") !== null).slice(0, MOST_CONTAINERS);
  const containers = await Promise.all(held.map((each) => containerOf(dockerHost, each)));
  const podman = JSON.stringify(member(version, "Components") ?? "").includes("Podman");
  return {
    kind: podman ? "podman" : "docker",
    dockerHost,
    version: textAt(version, "Version") ?? "of unknown version",
    containers,
  };
}

function engineOf(image: string): (typeof IMAGES)[number] | null {
  return IMAGES.find(([pattern]) => pattern.test(image.toLowerCase())) ?? null;
}

async function containerOf(dockerHost: string, listed: unknown): Promise<FoundContainer> {
  const image = textAt(listed, "Image") ?? "";
  const [, engine, usualPort] = engineOf(image) ?? IMAGES[0] ?? [/./, "vllm", 8_000];
  const name = (textAt(listed, "Names", 0) ?? "").replace(/^\//, "");
  const seen = await ask(dockerHost, `/containers/${encodeURIComponent(textAt(listed, "Id") ?? name)}/json`);
  const words = (listAt(seen, "Args") ?? []).filter((each) => typeof each === "string");
  const published = (listAt(listed, "Ports") ?? []).flatMap((each) => numberAt(each, "PublicPort") ?? []);
  const port = Number(flagValue(words, ["--port"])) || usualPort;
  return {
    name,
    image,
    engine,
    running: textAt(listed, "State") === "running",
    hostPorts: textAt(seen, "HostConfig", "NetworkMode") === "host" ? [port] : [...new Set(published)],
    port,
    servedNames: servedNames(words),
    usesGpu: (listAt(seen, "HostConfig", "DeviceRequests") ?? []).length > 0,
    dockerHost,
  };
}

/** `--served-model-name a b`, else `--model x`, else the word after `serve`. */
function servedNames(words: readonly string[]): readonly string[] {
  const at = words.findIndex((word) => /^--(served-model-name|alias)(=|$)/.test(word));
  if (at >= 0) {
    const inline = /=(.*)$/.exec(words[at] ?? "")?.[1];
    const rest = words.slice(at + 1);
    const end = rest.findIndex((word) => word.startsWith("-"));
    const after = end < 0 ? rest : rest.slice(0, end);
    return [...(inline === undefined ? [] : [inline]), ...after];
  }
  const model = flagValue(words, ["--model", "--model-path", "--model-id"]);
  if (model !== null) return [model];
  const served = words[words.indexOf("serve") + 1];
  return words.includes("serve") && served !== undefined && !served.startsWith("-") ? [served] : [];
}

function shut(dockerHost: string, code: string): ShutDocker | null {
  if (code === "EACCES" || code === "EPERM") {
    const mend = "sudo usermod -aG docker $USER, then log in anew. Who may use this socket is root on the machine.";
    return { dockerHost, why: "permission denied", mend };
  }
  if (code === "ECONNREFUSED") return { dockerHost, why: "nobody answers", mend: "Start its engine." };
  return { dockerHost, why: `no answer (${code})`, mend: "See whether its engine runs." };
}

/** The JSON of a good answer; a text says what went wrong. */
function ask(dockerHost: string, path: string): Promise<object | string> {
  const unix = dockerHost.startsWith("unix://");
  const url = unix ? "http://docker" : dockerHost.replace(/^tcp:/, "http:");
  if (!URL.canParse(url)) return Promise.resolve("not an address");
  const target = unix ? { socketPath: dockerHost.slice("unix://".length) } : {};
  return new Promise((resolve) => {
    const signal = AbortSignal.timeout(PROBE_MS);
    const asking = request(new URL(path, url), { ...target, signal, agent: false }, (answer) => {
      const chunks: Buffer[] = [];
      let size = 0;
      answer.on("data", (chunk: Buffer) => {
        size += chunk.length;
        if (size <= ANSWER_BYTES) chunks.push(chunk);
      });
      answer.once("error", () => resolve("cut"));
      answer.once("end", () => resolve(jsonOf(answer.statusCode ?? 0, Buffer.concat(chunks).toString("utf8"))));
    });
    asking.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.name));
    asking.end();
  });
}

function jsonOf(status: number, text: string): object | string {
  try {
    const value: unknown = JSON.parse(text);
    return status === 200 && typeof value === "object" && value !== null ? value : `status ${status}`;
  } catch {
    return "not Docker's API";
  }
}
