// The models that live in containers of one Docker engine. A load makes and starts a container, an unload stops and
// removes it; what an earlier router left running is found by its labels.

import type { Agent } from "undici";
import type { LoadTier } from "../../domain/event.ts";
import type { InstanceId, ModelName } from "../../domain/ids.ts";
import {
  type Backend,
  type Call,
  type Capabilities,
  type DriverContext,
  type Instance,
  LoadError,
  type LoadProgress,
  type Outcome,
  type Placement,
  type Sink,
} from "../backend.ts";
import { httpCall, openDispatcher } from "../http-call.ts";
import { listsModel, tokenFault, untilReady } from "../probe.ts";
import { type BringUp, followLoading, givenUp, makeContainer, startMade, untilGone } from "./bring-up.ts";
import { followContainers, tailOf } from "./container-logs.ts";
import { containerNameOf } from "./container-spec.ts";
import { ContainerWatch } from "./container-watch.ts";
import { type Container, inspectContainer, removeContainer } from "./docker-engine.ts";
import { DockerError, type DockerHttp } from "./docker-http.ts";
import { type DockerMember, endInWords, type Held, headersOf, isOurs, probeTargetOf } from "./held.ts";
import { lastWords } from "./last-words.ts";
import { type Found, instanceLabelOf, labelledContainers, recognise, recogniseExisting } from "./leftovers.ts";
import { stopUntilGone } from "./stop.ts";

const TAIL_LINES = 40;
const KEPT_LINES = 200;

type Listener = (instance: InstanceId, detail: string) => void;

export class DockerBackend implements Backend {
  readonly can: Capabilities = { loads: true, knowsMemory: false };
  readonly #members: ReadonlyMap<ModelName, DockerMember>;
  readonly #docker: DockerHttp;
  readonly #context: DriverContext;
  readonly #watch: ContainerWatch;
  readonly #dispatcher: Agent = openDispatcher();
  readonly #held = new Map<InstanceId, Held>();
  /** Instances whose container is being made. */
  readonly #making = new Set<InstanceId>();
  /** The log's end of containers that are gone, for whoever asks afterwards. */
  readonly #lastLogs = new Map<ModelName, readonly string[]>();
  readonly #loadedBefore = new Set<ModelName>();
  #listener: Listener = () => undefined;
  /** The engine could not be asked at boot: what an earlier router left has still to be cleared away. */
  #leftoversUnknown = false;

  constructor(members: readonly DockerMember[], docker: DockerHttp, context: DriverContext) {
    this.#members = new Map(members.map((member) => [member.spec.name, member]));
    this.#docker = docker;
    this.#context = context;
    this.#watch = new ContainerWatch(docker, context.clock);
  }

  async start(
    placement: Placement,
    report: (progress: LoadProgress) => void,
    signal: AbortSignal,
  ): Promise<{ endpoint: string; tier: LoadTier }> {
    const member = this.#memberOf(placement.model);
    const { clock } = this.#context;
    const up: BringUp = { docker: this.#docker, clock, member, placement, report, signal };
    this.#making.add(placement.instance);
    try {
      givenUp(signal);
      if (this.#leftoversUnknown) await this.#clearLeftovers(placement.model);
      const made = await makeContainer(up);
      const held = await this.#startAndHold(up, made.ref);
      const tier = made.pulled ? "download" : this.nextTier(placement.model);
      this.#loadedBefore.add(placement.model);
      return { endpoint: held.origin, tier };
    } catch (error) {
      const tail = await this.#tailBefore(placement, member);
      await this.#leaveNothing(placement, member);
      throw signal.aborted ? new LoadError("the load was given up", [], error) : lastWords(error, tail, member.options);
    } finally {
      this.#making.delete(placement.instance);
    }
  }

  nextTier(model: ModelName): LoadTier {
    return this.#loadedBefore.has(model) ? "warm" : "cold";
  }

  onLost(listener: Listener): void {
    this.#listener = listener;
  }

  async stop(instance: Instance, graceMs: number, signal: AbortSignal): Promise<{ memory: "free" | "unknown" }> {
    const held = this.#held.get(instance.instance);
    if (held === undefined) return { memory: "unknown" };
    const { options, spec } = held.member;
    held.stopping = true;
    try {
      const container = await inspectContainer(this.#docker, held.ref);
      if (container !== null) {
        this.#keepLog(spec.name, await tailOf(this.#docker, container, KEPT_LINES));
        const grace = Math.min(graceMs, options.stopGraceSeconds * 1000);
        await stopUntilGone(this.#docker, this.#context.clock, { container, held, graceMs: grace, signal });
      }
    } catch (error) {
      held.stopping = false;
      throw error instanceof LoadError ? error : lastWords(error, [], options);
    }
    this.#forget(held);
    return { memory: "unknown" };
  }

  async run(instance: Instance, call: Call, sink: Sink, signal: AbortSignal): Promise<Outcome> {
    const held = this.#held.get(instance.instance);
    // Its port may be another's by now.
    if (held === undefined) return { kind: "lost", detail: "its container is gone" };
    if (held.ended !== null) return { kind: "lost", detail: held.ended };
    const upstream = { origin: held.origin, path: call.endpoint, headers: headersOf(held.member.options) };
    return httpCall(upstream, call, sink, signal, { clock: this.#context.clock, dispatcher: this.#dispatcher });
  }

  async alive(instance: Instance, signal: AbortSignal): Promise<boolean> {
    const held = this.#held.get(instance.instance);
    if (held === undefined || held.ended !== null || !held.fits) return false;
    return listsModel(probeTargetOf(held), this.#probing(), signal);
  }

  async answers(instance: Instance, signal: AbortSignal): Promise<boolean> {
    const held = this.#held.get(instance.instance);
    if (held === undefined || held.ended !== null) return false;
    return (await tokenFault(probeTargetOf(held), this.#probing(), signal)) === null;
  }

  /** Containers of ours that do not run are removed on the way; those that run are listed, fitting or not. */
  async inspect(): Promise<readonly Instance[]> {
    this.#leftoversUnknown = true;
    const found: Instance[] = [];
    const members = [...this.#members.values()];
    for (const container of await labelledContainers(this.#docker, members)) {
      const known = recognise(this.#docker, members, container);
      if (!container.running) await removeContainer(this.#docker, container.id);
      else if (known !== null) found.push(this.#note(known));
    }
    for (const member of members) {
      const known = member.options.existing ? await recogniseExisting(this.#docker, member) : null;
      if (known !== null) found.push(this.#note(known));
    }
    this.#leftoversUnknown = false;
    return found;
  }

  async logs(model: ModelName, lines: number): Promise<readonly string[]> {
    const container = await inspectContainer(this.#docker, this.#refOf(model)).catch(() => null);
    if (container === null) return (this.#lastLogs.get(model) ?? []).slice(-lines);
    return tailOf(this.#docker, container, lines);
  }

  followLogs(model: ModelName, lines: number, signal: AbortSignal): AsyncIterable<string> {
    const source = { docker: this.#docker, clock: this.#context.clock, ref: () => this.#refOf(model) };
    return followContainers(source, lines, signal);
  }

  async close(): Promise<void> {
    this.#watch.close();
    await Promise.all([this.#docker.close(), this.#dispatcher.destroy()]);
  }

  /** Started, watched and answering; or stopped waiting for because it ended. */
  async #startAndHold(up: BringUp, ref: string): Promise<Held> {
    const { member, placement, signal } = up;
    const { id, name, origin } = await startMade(up, ref);
    const settled = new AbortController();
    const end = (): void => settled.abort();
    if (signal.aborted) end();
    signal.addEventListener("abort", end, { once: true });
    try {
      const exit = new Promise<never>((_, reject) => {
        const early = this.#watch.watch(id, ref, (container) => reject(new LoadError(endInWords(name, container))));
        settled.signal.addEventListener("abort", early, { once: true });
      });
      exit.catch(() => undefined);
      void followLoading(up, ref, settled.signal);
      const target = probeTargetOf({ member, origin });
      const warming = (): void => up.report({ phase: "warming", progress: null });
      await Promise.race([untilReady(target, this.#probing(), settled.signal, warming), exit]);
      givenUp(signal);
      return this.#hold({ instance: placement.instance, member, name, ref, origin, fits: true }, id);
    } finally {
      signal.removeEventListener("abort", end);
      end();
    }
  }

  #hold(known: Omit<Held, "ended" | "stopping" | "unwatch">, id: string): Held {
    const held: Held = { ...known, ended: null, stopping: false, unwatch: () => undefined };
    held.unwatch = this.#watch.watch(id, known.ref, (container) => void this.#lost(held, container));
    this.#held.set(held.instance, held);
    return held;
  }

  async #lost(held: Held, container: Container | null): Promise<void> {
    held.ended = endInWords(held.name, container);
    if (held.stopping) return;
    const tail = container === null ? [] : await tailOf(this.#docker, container, TAIL_LINES);
    if (held.stopping) return;
    const error = lastWords(new LoadError(held.ended), tail, held.member.options);
    this.#listener(held.instance, [error.message, ...error.logTail].join("\n"));
  }

  #forget(held: Held): void {
    held.unwatch();
    if (this.#held.get(held.instance) === held) this.#held.delete(held.instance);
  }

  #note({ instance, held, id }: Found): Instance {
    const { model } = instance;
    const known =
      this.#held.get(instance.instance) ??
      [...this.#held.values()].find((each) => each.member.options.existing && each.ref === held.ref);
    if (known !== undefined) return { ...instance, instance: known.instance, endpoint: known.origin };
    this.#hold(held, id);
    if (held.fits) this.#loadedBefore.add(model);
    return instance;
  }

  /** What could not be seen at boot would hold the memory that `wanted` needs. */
  async #clearLeftovers(wanted: ModelName): Promise<void> {
    const members = [...this.#members.values()];
    for (const container of await labelledContainers(this.#docker, members)) {
      const instance = instanceLabelOf(container);
      if (!this.#held.has(instance) && !this.#making.has(instance)) await removeContainer(this.#docker, container.id);
    }
    for (const member of members) {
      if (!member.options.existing || member.spec.name === wanted) continue;
      if ([...this.#held.values()].some((held) => held.member === member)) continue;
      await this.#stopExisting(member, member.options.stopGraceSeconds * 1000);
    }
    this.#leftoversUnknown = false;
  }

  async #stopExisting(member: DockerMember, graceMs: number): Promise<void> {
    const name = containerNameOf(member.spec, member.options, null);
    const container = await inspectContainer(this.#docker, name);
    if (container === null || !container.running) return;
    await stopUntilGone(this.#docker, this.#context.clock, { container, held: { ref: name, name, member }, graceMs });
  }

  async #tailBefore({ device }: Placement, { spec, options }: DockerMember): Promise<readonly string[]> {
    const name = containerNameOf(spec, options, device);
    const container = await inspectContainer(this.#docker, name).catch(() => null);
    if (container === null || !(options.existing || isOurs(container, options))) return [];
    const tail = await tailOf(this.#docker, container, KEPT_LINES);
    this.#keepLog(spec.name, tail);
    return tail.slice(-TAIL_LINES);
  }

  /** After a load that failed or was given up. What cannot be removed now is replaced by the next load of the model. */
  async #leaveNothing({ instance, device }: Placement, { spec, options }: DockerMember): Promise<void> {
    const name = containerNameOf(spec, options, device);
    try {
      if (options.existing) return await this.#stopExisting({ spec, options }, 0);
      const container = await inspectContainer(this.#docker, name);
      if (container !== null && instanceLabelOf(container) === instance) {
        await removeContainer(this.#docker, container.id);
        await untilGone(this.#docker, this.#context.clock, container.id);
      }
    } catch (error) {
      if (!(error instanceof DockerError) && !(error instanceof LoadError)) throw error;
      this.#leftoversUnknown = true;
    }
  }

  #keepLog(model: ModelName, lines: readonly string[]): void {
    if (lines.length > 0) this.#lastLogs.set(model, lines);
  }

  #probing() {
    return { clock: this.#context.clock, dispatcher: this.#dispatcher };
  }

  /** The container that the model has, or would have. */
  #refOf(model: ModelName): string {
    const running = [...this.#held.values()].find((held) => held.member.spec.name === model);
    if (running !== undefined) return running.ref;
    const { spec, options } = this.#memberOf(model);
    return containerNameOf(spec, options, spec.devices[0] ?? null);
  }

  #memberOf(model: ModelName): DockerMember {
    const member = this.#members.get(model);
    if (member === undefined) throw new LoadError(`the model ${model} has no container in this configuration`);
    return member;
  }
}
