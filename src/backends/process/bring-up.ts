// From a launch to an engine that has answered with a real token, or to nothing at all.

import { LoadError, type LoadProgress, type Placement } from "../backend.ts";
import { type Probing, untilReady } from "../probe.ts";
import type { Host, Hosted } from "./host.ts";
import { lastWords } from "./last-words.ts";
import { type EngineMember, probeTargetOf } from "./launch-plan.ts";

/** What a load that is given up gets to end by itself; it has nothing to finish. */
const GIVEN_UP_GRACE_MS = 5_000;
/** Launches whose free port another program took in between. */
const PORT_TRIES = 3;
const PORT_TAKEN = /EADDRINUSE|address already in use|address in use|couldn't bind|failed to bind/i;
const SHARDS = /Loading \S+ checkpoint shards:\s+(\d{1,3})%/;

export interface BringUp {
  readonly host: Host;
  readonly member: EngineMember;
  readonly placement: Placement;
  readonly probing: Probing;
  readonly report: (progress: LoadProgress) => void;
  readonly signal: AbortSignal;
  readonly hide: (text: string) => string;
  /** More to be sure of, once it has answered. @throws {LoadError} */
  check?(engine: Hosted, signal: AbortSignal): Promise<void>;
}

/** Leaves nothing behind when it rejects. @throws {LoadError} */
export async function bringUp(up: BringUp): Promise<Hosted> {
  for (let tries = 1; ; tries++) {
    if (up.signal.aborted) throw new LoadError("the load was given up");
    const engine = await up.host.launch(up.member, up.placement, up.report, up.signal);
    try {
      await untilServing(engine, up);
      await up.host.loaded(up.member);
      engine.proven = true;
      return engine;
    } catch (error) {
      await engine.catchUp();
      const fault = up.signal.aborted
        ? new LoadError("the load was given up", [], error)
        : lastWords(error, engine.log, up.hide);
      await endFailed(engine, up, fault);
      const portTaken = up.member.options.port === 0 && engine.log.last(40).some((line) => PORT_TAKEN.test(line));
      if (up.signal.aborted || !portTaken || tries >= PORT_TRIES) throw fault;
    }
  }
}

/** Until it serves, ends, or is given up; `wait` defaults to the whole readiness. @throws {LoadError} */
export async function untilServing(engine: Hosted, up: Omit<BringUp, "host" | "placement">): Promise<void> {
  const settled = new AbortController();
  const settle = (): void => settled.abort();
  up.signal.addEventListener("abort", settle, { once: true });
  const exit = engine.whenEnded.then((words) => {
    throw new LoadError(`the engine ended before it could serve: ${words}`);
  });
  exit.catch(() => undefined);
  void followLoading(engine, up.report, settled.signal);
  const serving = async (): Promise<void> => {
    const warming = (): void => up.report({ phase: "warming", progress: null });
    await untilReady(probeTargetOf(up.member, engine.origin), up.probing, settled.signal, warming);
    await up.check?.(engine, settled.signal);
  };
  try {
    await Promise.race([serving(), exit]);
    if (up.signal.aborted) throw new LoadError("the load was given up");
    // An answer that came on its last breath, or from another program on its port.
    if (engine.ended !== null) throw new LoadError(`the engine ended before it could serve: ${engine.ended}`);
  } finally {
    up.signal.removeEventListener("abort", settle);
    settle();
  }
}

async function endFailed(engine: Hosted, { member, signal }: BringUp, fault: LoadError): Promise<void> {
  const graceMs = Math.min(GIVEN_UP_GRACE_MS, member.options.stopGraceSeconds * 1000);
  try {
    await engine.end(graceMs);
  } catch (error) {
    const left = error instanceof Error ? error.message : String(error);
    throw new LoadError(`${fault.message}; ${left}`, fault.logTail, signal.aborted ? fault : error);
  }
}

/** Tells how far the weights are, as vLLM's log says. */
async function followLoading(
  engine: Hosted,
  report: (progress: LoadProgress) => void,
  signal: AbortSignal,
): Promise<void> {
  let shown = -1;
  for await (const line of engine.log.follow(signal)) {
    const [, percent] = SHARDS.exec(line) ?? [];
    const progress = percent === undefined ? shown : Math.min(100, Number(percent));
    if (progress === shown) continue;
    shown = progress;
    report({ phase: "loading", progress: progress / 100 });
  }
}
