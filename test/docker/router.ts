// A router in a process of its own, over containers of a real engine: its configuration, jobs through it, what it holds.

import { readdirSync } from "node:fs";
import { onTestFinished } from "vitest";
import type { Receipt } from "../../src/client/wire.ts";
import { type RouterProcess, serve, tempFolder } from "../e2e/process.ts";
import { ask, chatBody, receiptOf, submit } from "../e2e/wire.ts";
import { backendOf, type Knobs, removeOurs } from "./rig.ts";

export interface Site {
  readonly models: Readonly<Record<string, Knobs>>;
  readonly gpuFolder?: string;
  /** Of each model beside its backend. */
  readonly model?: Readonly<Record<string, unknown>>;
  readonly scheduler?: Readonly<Record<string, unknown>>;
  readonly devices?: Readonly<Record<string, unknown>>;
}

export function configOf({ models, gpuFolder, model = {}, scheduler = {}, devices }: Site) {
  const entries = Object.entries(models).map(([name, { own = {}, ...knobs }]) => {
    const backend = { driver: "vllm-docker", ...backendOf(knobs, gpuFolder) };
    return [name, { loadSeconds: 0.5, concurrency: 8, ...model, ...(own as object), backend }];
  });
  return {
    jobs: { leaseSeconds: 600 },
    scheduler: { policy: "model-score", minResidencySeconds: 0, maxWaitSeconds: 120, ...scheduler },
    ...(devices === undefined ? {} : { devices }),
    models: Object.fromEntries(entries),
  };
}

/** Its containers are removed when the test is over. @param others Models that live elsewhere, as they are written. */
export async function routerFor(site: Site, folder = tempFolder(), others: object = {}): Promise<RouterProcess> {
  onTestFinished(removeOurs);
  const config = configOf(site);
  return serve({ config: { ...config, models: { ...config.models, ...others } }, folder });
}

export async function answered(origin: string, model: string, over: object = {}, waitSeconds = 50): Promise<Receipt> {
  const { id } = await submit(origin, chatBody(model, over));
  const receipt = await receiptOf(origin, id, waitSeconds);
  if (receipt.status !== "completed")
    throw new Error(`${id} is ${receipt.status}: ${JSON.stringify(receipt.error ?? receipt.queue)}`);
  return receipt;
}

export async function stateOf(origin: string, model: string): Promise<string> {
  const { json } = await ask(origin, `/v1/models/${model}`);
  return json<{ sir: { state: string } }>().sir.state;
}

export function descriptorsOf(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}
