// What the tests of this folder start from.

import type { ModelName } from "../../src/domain/ids.ts";
import type { ModelSpec } from "../../src/domain/model.ts";

export function modelSpec(name: string, aliases: readonly string[] = [], more: Partial<ModelSpec> = {}): ModelSpec {
  return {
    name: name as ModelName,
    label: name,
    aliases,
    upstreamName: null,
    priority: 1,
    concurrency: 1,
    memoryGiB: null,
    loadMs: 0,
    usesDevice: true,
    devices: [],
    pinned: false,
    preload: false,
    unloadAfterMs: null,
    maxLoadFailures: 5,
    loadTimeoutMs: 900_000,
    firstLoadTimeoutMs: 7_200_000,
    firstByteTimeoutMs: 1_800_000,
    idleTimeoutMs: 300_000,
    runTimeoutMs: 14_400_000,
    ...more,
  };
}
