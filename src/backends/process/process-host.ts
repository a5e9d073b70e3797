// Engines as processes of this machine: each in a session of its own, with its port, its log and its record.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { ModelName } from "../../domain/ids.ts";
import { type DriverContext, LoadError, type LoadProgress, type Placement } from "../backend.ts";
import { type HeldPort, holdFreePort, holdPort } from "../free-port.ts";
import type { LogRing } from "../log-ring.ts";
import { EngineProcess } from "./engine-process.ts";
import type { Host, Hosted } from "./host.ts";
import { type EngineMember, type LaunchPlan, lettersOf, planLaunch } from "./launch-plan.ts";
import { identityOf } from "./process-table.ts";
import { type Shelf, shelfOf } from "./shelf.ts";

export class ProcessHost implements Host {
  readonly #driver: string;
  readonly #context: DriverContext;
  readonly #shelf: Shelf;
  readonly #models: ReadonlySet<ModelName>;

  constructor(driver: string, members: readonly EngineMember[], context: DriverContext) {
    this.#driver = driver;
    this.#context = context;
    this.#shelf = shelfOf(context);
    this.#models = new Set(members.map(({ spec }) => spec.name));
    for (const member of members) this.#shelf.know(driver, member);
  }

  async launch(
    member: EngineMember,
    placement: Placement,
    report: (progress: LoadProgress) => void,
    signal: AbortSignal,
  ): Promise<Hosted> {
    report({ phase: "starting", progress: null });
    await this.#clearAway(placement);
    const { host, port: wanted } = member.options;
    const port = wanted === 0 ? await holdFreePort(host) : await holdPort(host, wanted);
    if (signal.aborted) {
      port.release();
      throw new LoadError("the load was given up");
    }
    const engine = await this.#start(member, placement, port);
    report({ phase: "loading", progress: null });
    return engine;
  }

  async engines(): Promise<readonly Hosted[]> {
    await this.#shelf.findLeftovers();
    return [...this.#shelf.engines].filter(({ driver, model }) =>
      driver === this.#driver && this.#models.has(model) ? true : !this.#shelf.knows(driver, model),
    );
  }

  isWarm(member: EngineMember): boolean {
    return this.#shelf.wasLoaded(lettersOf(this.#driver, member));
  }

  loaded(member: EngineMember): Promise<void> {
    return this.#shelf.noteLoaded(lettersOf(this.#driver, member));
  }

  async logOf(model: ModelName): Promise<LogRing | null> {
    const ring = this.#shelf.logOf(this.#driver, model);
    await Promise.all(this.#shelf.of(this.#driver, model).map((engine) => engine.catchUp()));
    return ring;
  }

  /** Nothing is started on top of what a failed load left on the device because it could not be killed. */
  async #clearAway({ device }: Placement): Promise<void> {
    for (const engine of [...this.#shelf.engines]) {
      if ((engine.ended === null && !engine.doomed) || engine.seat.device !== device) continue;
      await engine.end(0);
    }
  }

  async #start(member: EngineMember, placement: Placement, port: HeldPort): Promise<EngineProcess> {
    const shelf = this.#shelf;
    const { spec, options } = member;
    const logFile = shelf.logFile(placement.instance, options.logLines);
    const engine = new EngineProcess({
      clock: shelf.clock,
      records: shelf.records,
      record: {
        marker: placement.instance,
        driver: this.#driver,
        model: spec.name,
        device: placement.device,
        instance: placement.instance,
        epoch: placement.epoch ?? 1,
        host: options.host,
        port: port.port,
        pid: null,
        started: null,
        boot: await shelf.boot(),
        letters: lettersOf(this.#driver, member),
      },
      port,
      logFile,
      fits: (record) => shelf.fits(record),
      child: true,
      stopSignal: options.stopSignal,
      onGone: (gone) => shelf.engines.delete(gone),
    });
    try {
      // Before the start too: what a router that is killed in between has started is found by its marker.
      await engine.reseat(placement);
      const plan = planLaunch(member, placement, port.port, this.#context.environment ?? {});
      shelf.put(engine);
      const childPid = await spawnDetached(plan, await logFile.openForWriting(), (words) => engine.exited(words));
      await engine.started(await identityOf(childPid));
    } catch (error) {
      engine.exited("it could not be started");
      await engine.end(0);
      throw error instanceof LoadError ? error : new LoadError(startFault(member, error), [], error);
    }
    return engine;
  }
}

/** Runs once it resolves, in a session and a group of its own; it does not keep the router alive. @returns Its pid. */
async function spawnDetached(
  plan: LaunchPlan,
  log: { readonly fd: number; close(): Promise<void> },
  onExit: (words: string) => void,
): Promise<number> {
  try {
    const child: ChildProcess = spawn(plan.program, plan.args, {
      ...(plan.cwd === undefined ? {} : { cwd: plan.cwd }),
      env: plan.env,
      detached: true,
      stdio: ["ignore", log.fd, log.fd],
      windowsHide: true,
    });
    child.once("exit", (code, signal) => onExit(endInWords(plan.program, code, signal)));
    child.unref();
    await once(child, "spawn");
    if (child.pid === undefined) throw new LoadError(`${plan.program} was started without a pid`);
    return child.pid;
  } finally {
    await log.close();
  }
}

function startFault({ options }: EngineMember, error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  const [program = ""] = options.command;
  if (code === "ENOENT") {
    const where =
      options.cwd === undefined
        ? "is it installed, and in the PATH that is passed on?"
        : `is it there, and the folder ${options.cwd} too?`;
    return `there is no program ${program}: ${where}`;
  }
  if (code === "EACCES") return `the program ${program} may not be executed by this user`;
  return `the program ${program} could not be started: ${message}`;
}

export function endInWords(program: string, code: number | null, signal: NodeJS.Signals | null): string {
  if (signal === "SIGKILL") {
    return `${program} was killed by SIGKILL: by the kernel when memory ran out, or by somebody (see dmesg)`;
  }
  if (signal !== null) return `${program} was ended by ${signal}`;
  if (code === 0) return `${program} ended with exit code 0; an engine has to stay in the foreground`;
  const lived = code === 137 ? " (128 + SIGKILL: most likely memory ran out)" : "";
  return `${program} ended with exit code ${code}${lived}`;
}
