// Backends whose engines are real processes of a small vLLM-shaped server, and a look at what is left of them. Every
// folder and process is gone when its test is.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished, vi } from "vitest";
import type { Backend, Driver, DriverContext, Instance, Placement } from "../../../src/backends/backend.ts";
import { processDriver } from "../../../src/backends/process.ts";
import type { ModelName } from "../../../src/domain/ids.ts";
import { SystemClock } from "../../../src/system/clock.ts";
import { createIds } from "../../../src/system/ids.ts";
import { tempFolder } from "../../e2e/process.ts";
import { GPU, specOf } from "../samples.ts";

// Processes are started, on machines that may be busy.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

export const SERVER = new URL("./vllm-shaped.mjs", import.meta.url).pathname;
const clock = new SystemClock();
const ids = createIds(clock);

export interface Rig {
  readonly dataDir: string;
  readonly context: DriverContext;
  /** Another router on the same data, after the first was killed. */
  again(): Rig;
  backend(model: string, knobs?: object, over?: object, driver?: Driver): Backend;
  placement(model: string): Placement;
  file(name: string): string;
}

/** What was given an instance is looked for in /proc when the test ends. */
export function rig(dataDir = mkdtempSync(join(tmpdir(), "sir-engines-test-")), markers: string[] = []): Rig {
  const context: DriverContext = {
    clock,
    dataDir,
    environment: { PATH: process.env["PATH"], HF_TOKEN: "hf_secret_value" },
  };
  const backends: Backend[] = [];
  onTestFinished(async () => {
    await Promise.all(backends.map((backend) => backend.close()));
    for (const marker of markers) for (const pid of marked(marker)) process.kill(pid, "SIGKILL");
    rmSync(dataDir, { recursive: true, force: true });
  });
  return {
    dataDir,
    context,
    again: () => rig(dataDir, markers),
    backend(model, knobs = {}, over = {}, driver: Driver = processDriver) {
      const options = driver.options.parse({ ...engine(knobs), ...over });
      const backend = driver.create([{ spec: specOf(model), options }], context);
      backends.push(backend);
      return backend;
    },
    placement(model) {
      const instance = ids.next("ins");
      markers.push(instance);
      return { instance, model: model as ModelName, device: GPU, epoch: 1 };
    },
    file: (name) => join(dataDir, name),
  };
}

/** Options of an engine that is our server. */
export function engine(knobs: object = {}): { command: string[]; stopGraceSeconds: number } {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: placeholders of the driver
  return { command: [process.execPath, SERVER, "${PORT}", "${MODEL}", JSON.stringify(knobs)], stopGraceSeconds: 5 };
}

/** Processes that carry the instance's mark and have not ended. */
export function marked(marker: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const state = /\) (\S)/.exec(readFileSync(`/proc/${pid}/stat`, "latin1"))?.[1];
        return state !== "Z" && readFileSync(`/proc/${pid}/environ`, "latin1").includes(`SIR_INSTANCE=${marker}`);
      } catch {
        return false;
      }
    });
}

export const never = (): AbortSignal => new AbortController().signal;

export async function load(backend: Backend, placement: Placement, phases: string[] = []): Promise<Instance> {
  const report = ({ phase, progress }: { phase: string; progress: number | null }): void => {
    phases.push(progress === null ? phase : `${phase} ${progress}`);
  };
  const { endpoint } = await backend.start(placement, report, never());
  return { ...placement, endpoint, epoch: 1 };
}

/** Asks again until it holds; the last failure is the test's. */
export async function eventually<T>(check: () => T | Promise<T>, withinMs = 10_000): Promise<T> {
  const untilMs = performance.now() + withinMs;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() > untilMs) throw error;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}

/** Every process whose command names this text and that has not ended. */
export function naming(text: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        if (/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "latin1"))) return false;
        return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(text);
      } catch {
        return false;
      }
    });
}

/** A folder for a router and its engines, whose commands name it: a test that fails leaves none of them running. */
export function routerFolder(): string {
  const folder = tempFolder();
  onTestFinished(() => {
    for (const pid of naming(`${folder}/`)) process.kill(pid, "SIGKILL");
  });
  return folder;
}
