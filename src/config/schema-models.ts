// The sections about what runs: devices, and models with their backends.

import { z } from "zod";
import { count, gib, name, seconds, secondsAboveZero } from "./units.ts";

export const deviceSection = z
  .strictObject({
    memoryGiB: gib()
      .nullable()
      .default(null)
      .describe("Memory that models may claim together, in GiB; null: not known, one model at a time."),
    memoryProbe: z
      .strictObject({
        command: z
          .array(z.string().min(1).max(4096))
          .min(1)
          .max(64)
          .describe("Program and arguments, run without a shell; the first number it prints counts."),
        unit: z.enum(["B", "KiB", "MiB", "GiB"]).default("MiB").describe("What that number counts."),
      })
      .nullable()
      .default(null)
      .describe("How free memory is asked for after an unload, e.g. nvidia-smi; null: drivers are believed."),
  })
  .describe("One GPU, or whatever memory models compete for.");

/** The driver's own options stand beside `driver` and are checked by its own schema. */
export const backendSection = z
  .looseObject({ driver: z.string().min(1).describe("Which kind of engine runs the model.") })
  .describe("The engine that runs the model; the other keys are its driver's own.");

export const modelSection = z
  .strictObject({
    label: name().optional().describe("Short name for people; default: the model's name."),
    aliases: z.array(name()).max(100).default([]).describe("Other names callers may send in `model`."),
    upstreamName: name()
      .optional()
      .describe("What the engine calls it: the body's `model` string is replaced by it; absent: nothing is touched."),
    priority: z.number().positive().max(1_000_000).default(1).describe("Weight of the model in model-score; above 0."),
    concurrency: count(1, 10_000).default(8).describe("Requests that may run on it at once."),
    memoryGiB: gib()
      .nullable()
      .default(null)
      .describe("Memory it takes while resident, in GiB, over all its devices; null: whole devices."),
    loadSeconds: seconds().default(30).describe("First guess of how long a load takes; measured loads replace it."),
    device: z
      .union([name(), z.array(name()).min(1).max(1000)])
      .optional()
      .describe(
        "The device it lives on; a list: one model across all of them, its memory split evenly; absent: any it fits on.",
      ),
    pinned: z.boolean().default(false).describe("Loaded at start and never evicted."),
    preload: z.boolean().default(false).describe("Loaded at start, when nothing with waiting work is in the way."),
    unloadAfterSeconds: secondsAboveZero()
      .nullable()
      .default(null)
      .describe("Unloaded after so long without work; null: it stays until the room is needed."),
    maxLoadFailures: count(1, 1000)
      .default(5)
      .describe("Failed loads in a row before the model counts as broken and is only probed."),
    loadTimeoutSeconds: secondsAboveZero().default(900).describe("Longest load, once it has been loaded before."),
    firstLoadTimeoutSeconds: secondsAboveZero()
      .default(7200)
      .describe("Longest first load, which may have to download or compile."),
    firstByteTimeoutSeconds: secondsAboveZero()
      .default(1800)
      .describe("Longest wait for the first byte of an answer; queue and load time do not count."),
    idleTimeoutSeconds: secondsAboveZero().default(300).describe("Longest silence inside an answer."),
    runTimeoutSeconds: secondsAboveZero().default(14_400).describe("Longest run of one attempt."),
    stallSeconds: secondsAboveZero()
      .default(300)
      .describe(
        "Work in flight without a byte or an end for so long: the engine is probed, and restarted if it is stuck.",
      ),
    responses: z
      .enum(["auto", "native", "chat"])
      .default("auto")
      .describe(
        "How background responses reach the engine: its own Responses endpoint, chat completions, or whichever it has.",
      ),
    backend: backendSection,
  })
  .describe("One model: the key is what callers send in `model`.");
