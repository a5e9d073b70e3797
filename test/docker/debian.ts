// Programs that the machine may lack, from Debian's own packages.

import { spawnSync } from "node:child_process";

/** @throws in loud words when it cannot be had */
export function haveProgram(program: string, packageName = program): void {
  const missing = (): boolean => spawnSync("sh", ["-c", `command -v ${program}`]).status !== 0;
  if (!missing()) return;
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const apt = (...words: string[]): void => {
    spawnSync("apt-get", [...words, "-qq"], { env, stdio: "ignore" });
  };
  console.log(`${program} is missing: apt-get install -y ${packageName}`);
  apt("install", "-y", "--no-install-recommends", packageName);
  if (missing()) {
    apt("update");
    apt("install", "-y", "--no-install-recommends", packageName);
  }
  if (missing())
    throw new Error(`=== ${program} (Debian package ${packageName}) cannot be had: what needs it is not proven.`);
}
