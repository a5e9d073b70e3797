// Free memory of a device, by a command such as nvidia-smi. What it says is the first number on its standard output.

import { execFile } from "node:child_process";
import type { MemoryProbe } from "../domain/model.ts";

const TIMEOUT_MS = 10_000;
const OUTPUT_BYTES = 65_536;
const PER_GIB = { B: 1024 ** 3, KiB: 1024 ** 2, MiB: 1024, GiB: 1 } as const;

/** In GiB; null when the command cannot be run or prints no number (unified-memory machines print `[N/A]`). */
export function readFreeGiB({ command, unit }: MemoryProbe): Promise<number | null> {
  const [program = "", ...args] = command;
  return new Promise((resolve) => {
    execFile(program, args, { timeout: TIMEOUT_MS, maxBuffer: OUTPUT_BYTES, windowsHide: true }, (error, stdout) => {
      const [number] = /\d+(?:\.\d+)?/.exec(stdout) ?? [];
      resolve(error !== null || number === undefined ? null : Number(number) / PER_GIB[unit]);
    });
  });
}
