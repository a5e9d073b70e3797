// The router's own image: its stages run from what .dockerignore lets through, and the result runs read-only, without
// privileges and without root under a real Docker engine. No base image can be pulled here, so one is made of this
// machine's node and busybox, and what `npm ci` leaves is taken from the project's own node_modules.

import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../e2e/process.ts";
import { haveProgram } from "./debian.ts";
import { librariesOf, upload } from "./image.ts";
import { docker, dockerHost } from "./rig.ts";

const projectRoot = fileURLToPath(new URL("../../", import.meta.url));
const BASE = "sir-test-base:1";
const IMAGE = "sir-test-router:1";
const dockerfile = readFileSync(join(projectRoot, "deploy/Dockerfile"), "utf8");
const [, buildStage = "", runStage = ""] = dockerfile.split(/^FROM .*$/m);
const allowed = readFileSync(join(projectRoot, ".dockerignore"), "utf8")
  .split("\n")
  .filter((line) => line.startsWith("!"))
  .map((line) => line.slice(1));

let folder = "";
let container = "";
let origin = "";

/** What a COPY of the context names; it must be let through. */
function copied(stage: string): string[] {
  const lines = [...stage.matchAll(/^COPY (?!--from)(.*)$/gm)].map(([, words = ""]) => words.trim().split(/\s+/));
  const names = lines.flatMap((words) => words.slice(0, -1));
  expect(names.filter((name) => !allowed.includes(name))).toEqual([]);
  return names;
}

/** As `npm ci` and its `prepare` step do it, from those files alone. */
function runBuildStage(app: string): void {
  for (const name of copied(buildStage)) cpSync(join(projectRoot, name), join(app, name), { recursive: true });
  const modules = join(app, "node_modules");
  symlinkSync(join(projectRoot, "node_modules"), modules);
  execFileSync(process.execPath, ["scripts/prepare.mjs"], { cwd: app, stdio: "pipe" });
  rmSync(modules);
  const listed = spawnSync("npm", ["ls", "--omit=dev", "--all", "--parseable"], { cwd: projectRoot, encoding: "utf8" });
  const real = realpathSync(join(projectRoot, "node_modules"));
  for (const path of listed.stdout.split("\n").filter((line) => line.includes("/node_modules/"))) {
    const name = relative(real, realpathSync(path));
    cpSync(realpathSync(path), join(modules, name), { recursive: true, dereference: true });
  }
}

/** In place of node:20-bookworm-slim: node, a shell, the user `node`. */
function baseFilesystem(root: string): void {
  haveProgram("busybox", "busybox-static");
  const put = (from: string, to: string): void => {
    mkdirSync(dirname(join(root, to)), { recursive: true });
    copyFileSync(realpathSync(from), join(root, to));
  };
  const node = realpathSync(process.execPath);
  put(node, "/usr/bin/node");
  for (const library of librariesOf(node)) put(library, library);
  const busybox = execFileSync("sh", ["-c", "command -v busybox"], { encoding: "utf8" }).trim();
  put(busybox, "/bin/busybox");
  for (const library of librariesOf(busybox)) put(library, library);
  for (const name of ["sh", "mkdir", "chown", "id", "touch"]) symlinkSync("busybox", join(root, "bin", name));
  mkdirSync(join(root, "etc"));
  writeFileSync(join(root, "etc/passwd"), "root:x:0:0::/:/bin/sh\nnode:x:1000:1000::/tmp:/bin/sh\n");
  writeFileSync(join(root, "etc/group"), "root:x:0:\nnode:x:1000:\n");
  mkdirSync(join(root, "tmp"));
  chmodSync(join(root, "tmp"), 0o1777);
}

function archived(path: string): string {
  execFileSync("tar", ["-C", path, "-cf", `${path}.tar`, "."]);
  return `${path}.tar`;
}

async function buildImage(): Promise<void> {
  const [base, context] = [join(folder, "base"), join(folder, "context")];
  mkdirSync(join(context, "app"), { recursive: true });
  mkdirSync(base);
  baseFilesystem(base);
  const [repo, tag] = BASE.split(":");
  await upload(dockerHost(), `/images/create?fromSrc=-&repo=${repo}&tag=${tag}`, archived(base));
  runBuildStage(join(context, "app"));
  for (const name of copied(runStage)) copyFileSync(join(projectRoot, name), join(context, name));
  // The first stage is what was just made; the second is the shipped one, word for word.
  writeFileSync(join(context, "Dockerfile"), `FROM scratch AS build\nCOPY app /app\n\nFROM ${BASE}\n${runStage}`);
  await upload(dockerHost(), `/build?t=${IMAGE}&rm=1&forcerm=1`, archived(context));
}

/** As docker-compose.yml has it. */
async function startContainer(): Promise<void> {
  const HostConfig = {
    ReadonlyRootfs: true,
    CapDrop: ["ALL"],
    SecurityOpt: ["no-new-privileges:true"],
    Tmpfs: { "/tmp": "rw,noexec,nosuid,nodev,size=64m" },
    Init: true,
    PortBindings: { "8000/tcp": [{ HostIp: "127.0.0.1", HostPort: "" }] },
  };
  const made = await docker("POST", "/containers/create?name=sirtest-router", { Image: IMAGE, HostConfig });
  expect([made.status, made.json.message]).toEqual([201, undefined]);
  container = made.json.Id;
  const { status } = await docker("POST", `/containers/${container}/start`);
  expect(status).toBe(204);
  await locate();
}

async function locate(): Promise<void> {
  const { json } = await docker("GET", `/containers/${container}/json`);
  origin = `http://127.0.0.1:${json.NetworkSettings.Ports["8000/tcp"][0].HostPort}`;
}

async function exec(...Cmd: string[]): Promise<{ code: number; out: string }> {
  const made = await docker("POST", `/containers/${container}/exec`, {
    Cmd,
    AttachStdout: true,
    AttachStderr: true,
    Tty: true,
  });
  const { json } = await docker("POST", `/exec/${made.json.Id}/start`, { Detach: false, Tty: true });
  const seen = await docker("GET", `/exec/${made.json.Id}/json`);
  return { code: seen.json.ExitCode, out: String(json) };
}

const healthy = (): Promise<void> =>
  eventually(async () => {
    const { json } = await docker("GET", `/containers/${container}/json`);
    expect([json.State.Status, json.State.Health?.Status, json.State.Health?.Log?.at(-1)?.Output ?? ""]).toEqual([
      "running",
      "healthy",
      "",
    ]);
  }, 90_000);

const ask = async (): Promise<{ status: number; id: string | null }> => {
  const answer = await fetch(`${origin}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", prefer: "respond-async" },
    body: JSON.stringify({ model: "chat", messages: [{ role: "user", content: "hello" }] }),
  });
  const receipt = (await answer.json()) as { id?: string };
  return { status: answer.status, id: receipt.id ?? null };
};

describe("the image", () => {
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "sir-image-"));
    await buildImage();
    await startContainer();
  }, 600_000);

  afterAll(async () => {
    if (container !== "") await docker("DELETE", `/containers/${container}?force=1&v=1`);
    for (const image of [IMAGE, BASE]) await docker("DELETE", `/images/${image}?force=1`);
    rmSync(folder, { recursive: true, force: true });
  });

  it("becomes healthy on a read-only root, without capabilities, as a user that is not root", async () => {
    await healthy();

    const { json } = await docker("GET", `/containers/${container}/json`);
    expect(json.Config).toMatchObject({ User: "node", Entrypoint: ["node", "dist/cli.js"], Cmd: ["serve"] });
    expect(await exec("id", "-u")).toMatchObject({ code: 0, out: expect.stringContaining("1000") });
    expect(await exec("touch", "/app/x")).toMatchObject({ code: 1, out: expect.stringContaining("Read-only") });
    expect(await exec("touch", "/etc/sir/x")).toMatchObject({ code: 1 });
  });

  it("answers, carries the dashboard, and keeps its jobs in the volume through a restart", async () => {
    await healthy();
    const { status, id } = await ask();
    expect(status).toBe(202);
    const page = await fetch(`${origin}/dashboard/`);
    expect([page.status, page.headers.get("content-type")]).toEqual([200, expect.stringContaining("text/html")]);
    const done = await fetch(`${origin}/v1/jobs/${id}?wait=20`);
    expect(((await done.json()) as { status: string }).status).toBe("completed");

    await docker("POST", `/containers/${container}/restart?t=20`);
    await locate();
    await healthy();

    const again = await fetch(`${origin}/v1/jobs/${id}`);
    expect(((await again.json()) as { status: string }).status).toBe("completed");
  }, 180_000);

  it("ends in good order when it is stopped", async () => {
    await docker("POST", `/containers/${container}/stop?t=20`);

    const { json } = await docker("GET", `/containers/${container}/json`);
    expect([json.State.Status, json.State.ExitCode]).toEqual(["exited", 0]);
  });
});
