// Completion in real shells: the scripts are sourced, and asked for what a person would type.

import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { builtCli } from "../e2e/built.ts";
import { type RouterProcess, serve, tempFolder } from "../e2e/process.ts";
import { piped } from "./pseudo-terminal.ts";

const backend = { driver: "mock", loadSeconds: 0.1 };
let router: RouterProcess;
let folder: string;
let job: string;
let environment: Record<string, string>;

beforeAll(async () => {
  folder = tempFolder();
  const models = { "org/chat:8b": { aliases: ["chat"], backend }, code: { backend } };
  router = await serve({ folder, config: { models, devices: { gpu0: {} } } });
  const bin = join(folder, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "sir"), `#!/bin/sh\nexec "${process.execPath}" "${builtCli()}" "$@"\n`);
  chmodSync(join(bin, "sir"), 0o755);
  writeFileSync(join(folder, "request.json"), "{}");
  const PATH = `${bin}:${process.env["PATH"]}`;
  // The limit is for people at a keyboard; this machine may be busy.
  const patient = { SIR_COMPLETION_MS: "20000" };
  environment = { PATH, HOME: folder, SIR_URL: router.origin, LC_ALL: "C.UTF-8", TERM: "xterm", ...patient };
  job = (await piped(["submit", "-m", "chat", "--detach", "-q", "hello"], environment)).out.trim();
});
afterAll(async () => {
  await router.kill();
});

/** A shell that is missing is a failure, and says which: `.ci/run` installs them. */
function shell(name: string, words: readonly string[]): string {
  const { error, stdout, stderr } = spawnSync(name, words, { env: environment, cwd: folder, encoding: "utf8" });
  if (error !== undefined) throw new Error(`${name} is needed to prove its completion: ${error.message}`);
  expect(stderr).toBe("");
  return stdout;
}

/** What bash would put in place of the word, where its words break at `:` and `=`. */
function bash(line: string): string[] {
  const script = `
    source <(sir completion bash)
    compopt() { [[ $2 == nospace ]] && echo nospace; }
    COMP_LINE=$1 COMP_POINT=\${#1}
    _sir
    printf '%s\\n' "\${COMPREPLY[@]}"`;
  return shell("bash", ["--norc", "-c", script, "bash", line]).trim().split("\n");
}

function fish(line: string): string[] {
  const answer = shell("fish", ["--no-config", "-c", `sir completion fish | source; complete -C '${line}'`]);
  return answer
    .trim()
    .split("\n")
    .map((each) => each.split("\t")[0] ?? "");
}

/** zsh completes only in an editor, so that what the script hands to it is shown instead. */
function zsh(...words: string[]): string[] {
  const script = `
    compdef() { :; }
    _describe() { print -rl -- "\${(@P)3}"; (( $# > 3 )) && print -r -- "(\${(q)@[4,-1]})" }
    _files() { print :files }
    eval "$(sir completion zsh)"
    words=("$@") CURRENT=$#
    _sir`;
  return shell("zsh", ["-f", "-c", script, "zsh", ...words])
    .trim()
    .split("\n");
}

describe("completion", () => {
  it("bash: commands, verbs, flags, models, jobs, closed lists, files", () => {
    expect(bash("sir jo")).toEqual(["jobs"]);
    expect(bash("sir jobs w")).toEqual(["wait"]);
    expect(bash("sir jobs --ba")).toEqual(["--band"]);
    expect(bash("sir submit -m ")).toEqual(["org/chat:8b", "chat", "code"]);
    expect(bash("sir explain ")).toContain(job);
    expect(bash("sir jobs --status=com")).toEqual(["completed"]);
    expect(bash("sir submit --body req")).toEqual(["request.json"]);
  });

  it("bash: a setting's key waits for its value, without a blank", () => {
    expect(bash("sir replay --set maxW")).toEqual(["nospace", "maxWaitSeconds="]);
    expect(bash("sir replay --pol")).toEqual(["--policy"]);
  });

  it("bash: goes on behind a colon, where bash breaks words", () => {
    expect(bash("sir models load org/chat:")).toEqual(["8b"]);
  });

  it("zsh: commands with what they do, models, jobs, files", () => {
    expect(zsh("sir", "jo")).toEqual([
      "jobs:List jobs and where their time went; show one, wait for its answer, cancel some.",
    ]);
    expect(zsh("sir", "models", "load", "co")).toEqual([expect.stringMatching(/^code:/)]);
    expect(zsh("sir", "models", "load", "org")[0]).toMatch(/^org\/chat\\:8b:/);
    expect(zsh("sir", "jobs", "wait", "")[0]).toMatch(new RegExp(`^${job}:`));
    expect(zsh("sir", "submit", "--body", "")).toEqual([":files"]);
    expect(zsh("sir", "replay", "--set", "maxW")).toEqual(["maxWaitSeconds=:", "(-S '')"]);
  });

  it("fish: commands, flags, models, decisions, files", () => {
    expect(fish("sir decis")).toEqual(["decisions"]);
    expect(fish("sir decisions --ki")).toEqual(["--kind"]);
    expect(fish("sir pause --device ")).toEqual(["gpu0"]);
    expect(fish("sir decisions show ")[0]).toMatch(/^dec_[0-9a-f]{32}$/);
    expect(fish("sir submit --body req")).toEqual(["request.json"]);
  });

  it("is silent, and no failure, where no router answers", async () => {
    const { code, out, err } = await piped(["__complete", "--", "submit", "-m", ""], { SIR_URL: "http://127.0.0.1:9" });

    expect([code, out, err]).toEqual([0, "", ""]);
  });

  it("is silent rather than late", async () => {
    const environment = { SIR_URL: router.origin, SIR_COMPLETION_MS: "1" };
    const { code, err } = await piped(["__complete", "--", "submit", "-m", ""], environment);

    expect([code, err]).toEqual([0, ""]);
  });

  it("prints a script for PowerShell too", async () => {
    const { code, out } = await piped(["completion", "powershell"], {});

    expect(code).toBe(0);
    expect(out).toContain("Register-ArgumentCompleter -Native -CommandName sir");
  });
});
