// A model whose engine the router starts as a process. A load launches it, an unload ends it with all it started.

import type { LoadTier } from "../../domain/event.ts";
import type { ModelName } from "../../domain/ids.ts";
import type { Backend, Call, Capabilities, Instance, LoadProgress, Outcome, Placement, Sink } from "../backend.ts";
import { bringUp } from "./bring-up.ts";
import type { LostListener, ModelEngines } from "./model-engines.ts";

export class ProcessBackend implements Backend {
  /** That all processes are gone is known; that the GPU's driver has taken note of it is not. */
  readonly can: Capabilities = { loads: true, knowsMemory: false };
  readonly #engines: ModelEngines;

  constructor(engines: ModelEngines) {
    this.#engines = engines;
  }

  async start(
    placement: Placement,
    report: (progress: LoadProgress) => void,
    signal: AbortSignal,
  ): Promise<{ endpoint: string; tier: LoadTier }> {
    const tier = this.nextTier();
    const engine = await bringUp(this.#engines.loading(placement, report, signal));
    this.#engines.watch(engine);
    return { endpoint: engine.origin, tier };
  }

  /** The first load of the same command since the machine's boot reads its files from the disk; later ones need not. */
  nextTier(): LoadTier {
    return this.#engines.host.isWarm(this.#engines.member) ? "warm" : "cold";
  }

  onLost(listener: LostListener): void {
    this.#engines.onLost = listener;
  }

  async stop(instance: Instance, graceMs: number, signal: AbortSignal): Promise<{ memory: "free" | "unknown" }> {
    const engine = await this.#engines.find(instance);
    if (engine !== null) await this.#engines.end(engine, graceMs, signal);
    return { memory: "unknown" };
  }

  async run(instance: Instance, call: Call, sink: Sink, signal: AbortSignal): Promise<Outcome> {
    const engine = await this.#engines.find(instance);
    // Its port may be another's by now.
    if (engine === null) return { kind: "lost", detail: "its process is gone" };
    if (engine.ended !== null) return { kind: "lost", detail: engine.ended };
    return this.#engines.call(engine, call, sink, signal);
  }

  async alive(instance: Instance, signal: AbortSignal): Promise<boolean> {
    const engine = await this.#engines.find(instance);
    return engine !== null && (await this.#engines.alive(engine, signal));
  }

  async answers(instance: Instance, signal: AbortSignal): Promise<boolean> {
    const engine = await this.#engines.find(instance);
    return engine !== null && (await this.#engines.answers(engine, signal));
  }

  /** Those of its model, and those of models that are gone from the configuration, which are only to be stopped. */
  async inspect(): Promise<readonly Instance[]> {
    const engines = await this.#engines.inService();
    return engines.map(({ seat, origin }) => ({ ...seat, endpoint: origin }));
  }

  logs(model: ModelName, lines: number): Promise<readonly string[]> {
    return this.#engines.logs(model, lines);
  }

  followLogs(model: ModelName, lines: number, signal: AbortSignal): AsyncIterable<string> {
    return this.#engines.followLogs(model, lines, signal);
  }

  close(): Promise<void> {
    return this.#engines.close();
  }
}
