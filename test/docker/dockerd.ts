// A Docker engine for the tests: the one that answers, else a dockerd of our own with its own socket, data, pid file and
// network, stopped and wiped afterwards.

import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { haveProgram } from "./debian.ts";

const NAME = "sir-dockerd-";
const START_MS = 60_000;
const STOP_MS = 20_000;

/** What is said when there can be no engine; the run then fails. */
const NO_ENGINE = (why: string): string =>
  `\n=== NO DOCKER ENGINE: ${why}\n=== The vllm-docker driver is not proven by this run.\n`;

export interface Dockerd {
  /** For `DOCKER_HOST`. */
  readonly host: string;
  /** Null: not ours, so not ours to restart. */
  readonly folder: string | null;
}

export function answers(host: string): Promise<boolean> {
  const socketPath = host.slice("unix://".length);
  return new Promise((resolve) => {
    const ping = request({ socketPath, path: "/_ping", timeout: 2000 }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    ping.once("error", () => resolve(false));
    ping.once("timeout", () => ping.destroy());
    ping.end();
  });
}

/** @throws in loud words, when there is no engine and none can be started */
export async function haveEngine(): Promise<Dockerd> {
  for (const host of [process.env["DOCKER_HOST"] ?? "", "unix:///var/run/docker.sock"]) {
    if (host.startsWith("unix://") && (await answers(host))) return { host, folder: null };
  }
  if (process.getuid?.() !== 0) throw new Error(NO_ENGINE("none answers, and only root can start one."));
  try {
    haveProgram("dockerd", "docker.io");
    haveProgram("iptables");
  } catch (error) {
    throw new Error(NO_ENGINE("none answers, and dockerd cannot be installed."), { cause: error });
  }
  await wipeAbandoned();
  const folder = mkdtempSync(join(tmpdir(), NAME));
  writeFileSync(join(folder, "owner.pid"), String(process.pid));
  const dockerd = { host: `unix://${folder}/docker.sock`, folder };
  await startDockerd(dockerd);
  return dockerd;
}

const TRIES = 3;

/**
 * Started with the folder's own state: also again, after it was killed. Its containerd gives up after 15 s, which a busy
 * machine can exceed: then it is started once more.
 */
export async function startDockerd(dockerd: Dockerd): Promise<ChildProcess> {
  for (let tries = 1; ; tries++) {
    try {
      return await startOnce(dockerd);
    } catch (error) {
      if (tries === TRIES) throw error;
    }
  }
}

async function startOnce({ host, folder }: Dockerd): Promise<ChildProcess> {
  if (folder === null) throw new Error("an engine that is not ours is not started by us");
  const log = openSync(join(folder, "dockerd.log"), "a");
  const args = [
    ...["--host", host, "--data-root", join(folder, "data"), "--exec-root", join(folder, "exec")],
    ...["--pidfile", join(folder, "dockerd.pid")],
  ];
  rmSync(join(folder, "dockerd.pid"), { force: true });
  const child = spawn("dockerd", args, { stdio: ["ignore", log, log], detached: true });
  closeSync(log);
  child.unref();
  const untilMs = performance.now() + START_MS;
  while (!(await answers(host))) {
    if (child.exitCode !== null || performance.now() > untilMs) {
      const said = readFileSync(join(folder, "dockerd.log"), "utf8").split("\n").slice(-15).join("\n");
      throw new Error(NO_ENGINE(`dockerd did not start:\n${said}`));
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return child;
}

const pidOf = (folder: string): number | null => {
  const path = join(folder, "dockerd.pid");
  return existsSync(path) ? Number(readFileSync(path, "utf8")) : null;
};

const lives = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
};

/** Ends it; its containers end with it. */
export async function stopDockerd({ folder }: Dockerd): Promise<void> {
  const pid = folder === null ? null : pidOf(folder);
  if (pid === null) return;
  if (lives(pid)) process.kill(pid, "SIGTERM");
  const untilMs = performance.now() + STOP_MS;
  while (lives(pid)) {
    if (performance.now() > untilMs) process.kill(pid, "SIGKILL");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Of runs that were killed. */
async function wipeAbandoned(): Promise<void> {
  for (const name of readdirSync(tmpdir()).filter((each) => each.startsWith(NAME))) {
    const folder = join(tmpdir(), name);
    const owner = join(folder, "owner.pid");
    if (existsSync(owner) && lives(Number(readFileSync(owner, "utf8")))) continue;
    await wipeDockerd({ host: `unix://${folder}/docker.sock`, folder });
  }
}

/**
 * A container outlives a dockerd that was killed, and holds its address on the bridge that the next dockerd also uses:
 * the containerd, its shims and what they started are ended by their place in the folder.
 */
function endContainers(folder: string): void {
  const processes = readdirSync("/proc").flatMap((pid) => {
    try {
      const parent = Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
      return [{ pid: Number(pid), parent, command: readFileSync(`/proc/${pid}/cmdline`, "utf8") }];
    } catch {
      return []; // no process, or one that has ended meanwhile
    }
  });
  const ours = new Set(processes.filter(({ command }) => /^\S*containerd/.test(command) && command.includes(folder)));
  const shims = new Set([...ours].map(({ pid }) => pid));
  for (const each of processes) if (shims.has(each.parent)) ours.add(each);
  for (const { pid } of ours) if (lives(pid)) process.kill(pid, "SIGKILL");
}

/** Nothing of it stays on the machine. */
export async function wipeDockerd(dockerd: Dockerd): Promise<void> {
  const { folder } = dockerd;
  if (folder === null) return;
  await stopDockerd(dockerd);
  endContainers(folder);
  const mounts = readFileSync("/proc/self/mounts", "utf8")
    .split("\n")
    .map((line) => line.split(" ")[1] ?? "")
    .filter((path) => path.startsWith(folder));
  for (const path of mounts.reverse()) spawnSync("umount", ["-l", path]);
  try {
    execFileSync("rm", ["-rf", folder]);
  } catch {
    console.log(`could not remove ${folder} wholly`);
  }
}
