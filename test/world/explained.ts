// What must hold of every explanation: its stretches touch, never overlap and sum to the life exactly; they say what the
// records say; and between two looks at a live job it only grows.

import type { StretchWire } from "../../src/client/wire-explain.ts";
import type { JobId } from "../../src/domain/ids.ts";
import { isFinal, type Job } from "../../src/domain/job.ts";
import type { Split, Stretch } from "../../src/domain/life.ts";
import { endOf, spentOf, splitLife } from "../../src/domain/partition.ts";
import { readExplanation } from "../../src/explain/read.ts";
import type { Store } from "../../src/store/store.ts";

/** Claim, commit, connect: what no record has to explain. */
const DISPATCH_MAX_MS = 1_000;
const ALL = 100_000;

const lengthOf = (stretches: readonly Stretch[], cause: string): number =>
  stretches.filter((each) => each.cause === cause).reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0);

export async function splitOf(store: Store, job: Job, nowMs: number): Promise<Split> {
  const toMs = endOf(job, nowMs);
  const { model, acceptedAtMs } = job;
  return splitLife({
    ...{ job, nowMs },
    attempts: await store.attempts(job.id),
    waits: await store.waits(model, acceptedAtMs, toMs),
    downtimes: await store.downtimes(acceptedAtMs, toMs),
    loads: await store.about.loads(model, acceptedAtMs, nowMs, ALL),
  });
}

/** In words, everything that is wrong with the explanation of a job. */
export async function faultsOf(store: Store, job: Job, nowMs: number): Promise<string[]> {
  const split = await splitOf(store, job, nowMs);
  const { stretches } = split;
  const faults: string[] = [];
  const at = (ms: number): string => (ms - split.fromMs).toFixed(0);
  const life = (): string => stretches.map((each) => `${each.cause} ${at(each.fromMs)}-${at(each.toMs)}`).join(", ");
  let atMs = split.fromMs;
  for (const { fromMs, toMs, cause } of stretches) {
    if (fromMs !== atMs || toMs <= fromMs) faults.push(`${cause} ${at(fromMs)}-${at(toMs)} begins not at ${at(atMs)}`);
    atMs = toMs;
  }
  if (atMs !== split.toMs) faults.push(`ends at ${at(atMs)} of ${split.totalMs} ms`);
  if (split.doubledMs > 1) faults.push(`${split.doubledMs} ms have two causes in ${life()}`);
  if (lengthOf(stretches, "dispatch") >= DISPATCH_MAX_MS) faults.push(`waits for nothing in ${life()}`);
  faults.push(...(await loadingFaults(store, job, stretches, nowMs)), ...(await decisionFaults(store, stretches)));
  const { wentFirst = { jobs: 0, higher: 0 }, ...spent } = job.spent ?? {};
  if (isFinal(job.state.status) && JSON.stringify(spent) !== JSON.stringify(spentOf(split))) {
    faults.push(`was summed up as ${JSON.stringify(spent)} and is ${life()}`);
  }
  const { jobs, higher } = wentFirst;
  if (!Number.isInteger(jobs) || !Number.isInteger(higher) || higher < 0 || jobs < higher) {
    faults.push(`stood behind ${jobs} jobs, ${higher} of them in higher bands`);
  }
  return faults;
}

/** A stretch of loading lies within one load of the model, and is that load where nothing stronger lies over it. */
async function loadingFaults(
  store: Store,
  job: Job,
  stretches: readonly Stretch[],
  nowMs: number,
): Promise<readonly string[]> {
  const loads = await store.about.loads(job.model, job.acceptedAtMs, nowMs, ALL);
  const downtimes = await store.downtimes(job.acceptedAtMs, nowMs);
  return stretches.flatMap(({ cause, fromMs, toMs, decision }, i) => {
    if (cause !== "loading") return [];
    // A router that dies while it loads writes no row.
    const died = downtimes.some((each) => each.fromMs >= toMs - 1);
    const cut = died && loads.every((load) => load.decision !== decision);
    const goesOn = cut || (i === stretches.length - 1 && !isFinal(job.state.status));
    const load = loads.find((each) => each.startedAtMs <= fromMs + 1 && each.endedAtMs >= toMs - 1);
    if (load !== undefined)
      return load.decision === decision ? [] : [`loading of ${decision}, load of ${load.decision}`];
    return goesOn ? [] : [`loading ${fromMs}-${toMs} is in no load of ${JSON.stringify(loads)}`];
  });
}

async function decisionFaults(store: Store, stretches: readonly Stretch[]): Promise<readonly string[]> {
  const faults: string[] = [];
  for (const { cause, rule, decision } of stretches) {
    if (cause !== "held") continue;
    if (rule === null) faults.push("held by no rule");
    if (decision === null) faults.push(`held (${rule}) by no decision`);
    else if ((await store.decision(decision)) === null) faults.push(`held by ${decision}, which is not stored`);
  }
  return faults;
}

/** What was said of live jobs before. */
export class Memory {
  readonly #before = new Map<JobId, readonly StretchWire[]>();

  /** Whether it was alive when it was last looked at. */
  knows(id: JobId): boolean {
    return this.#before.has(id);
  }

  /** Looks once more; in words, what was said before and is not said any more. */
  async grown(store: Store, job: Job, nowMs: number): Promise<string | null> {
    const told = await readExplanation(store, job.id, { nowMs, label: (model) => model, place: null, observes: true });
    if (told === null) return "is not stored";
    const before = this.#before.get(job.id) ?? [];
    if (told.final) this.#before.delete(job.id);
    else this.#before.set(job.id, told.stretches);
    if (told.partial) return `is partial: ${JSON.stringify(told)}`;
    const lost = before.find((each) => !covered(each, told.stretches));
    return lost === undefined ? null : `was ${words(lost)} and is ${told.stretches.map(words).join(", ")}`;
  }
}

/** Each ms is said to be the same, but that a run may have been lost since. */
function covered(before: StretchWire, now: readonly StretchWire[]): boolean {
  let atMs = before.from_ms;
  for (const each of now) {
    if (each.to_ms <= atMs || each.from_ms > atMs) continue;
    const same = each.cause === before.cause && each.rule === before.rule && each.by === before.by;
    if (!same && !(before.cause === "running" && each.cause === "lost_attempt")) return false;
    atMs = each.to_ms;
    if (atMs >= before.to_ms) return true;
  }
  return atMs >= before.to_ms;
}

function words({ cause, rule, by, from_ms, to_ms }: StretchWire): string {
  return `${cause}${rule === null ? "" : `.${rule}`}${by === null ? "" : ` by ${by}`} ${from_ms}-${to_ms}`;
}
