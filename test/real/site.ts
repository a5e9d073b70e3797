// A whole router in this process over real engines: its address, what it told, the engines it started, its end.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pino } from "pino";
import { startRouter } from "../../src/assemble.ts";
import type { ModelWire } from "../../src/client/wire.ts";
import { resolveConfig } from "../../src/config/load.ts";
import type { RouterEvent } from "../../src/domain/event.ts";
import { ask } from "../e2e/wire.ts";
import { isRunning, processesOf } from "./processes.ts";

export interface EngineFacts {
  readonly model: string;
  readonly pid: number;
  readonly origin: string;
  /** The instance its processes are marked with. */
  readonly marker: string;
}

export interface Site {
  readonly origin: string;
  readonly events: readonly RouterEvent[];
  engines(): readonly EngineFacts[];
  /** The engine of that model. @throws when none runs */
  engine(model: string): EngineFacts;
  model(name: string): Promise<ModelWire>;
  /** Seconds of its finished loads, oldest first. */
  loads(model: string): readonly number[];
  swaps(): Promise<number>;
  /** Ends the router. Resolves with the pids of engines that are left. */
  close(): Promise<readonly number[]>;
}

const open = new Set<Site>();

/** For a run that is interrupted. */
export async function closeSites(): Promise<void> {
  await Promise.all([...open].map((site) => site.close()));
}

export async function openSite(parent: string, models: object): Promise<Site> {
  const folder = mkdtempSync(join(parent, "site-"));
  const document = {
    server: { port: 0, shutdownSeconds: 2 },
    store: { url: "sqlite:./data/sir.db" },
    scheduler: { policy: "fifo" },
    models,
  };
  const config = resolveConfig(document, { file: null, baseDir: folder, cwd: folder, overrides: [] });
  const events: RouterEvent[] = [];
  const log = { listen: (event: RouterEvent) => void events.push(event), http: () => undefined, logger: silent };
  const router = await startRouter(config, { log });
  const site = siteOf({ origin: router.url, folder, events, end: () => router.close() });
  open.add(site);
  return site;
}

const silent = pino({ level: "silent" });

interface Parts {
  readonly origin: string;
  readonly folder: string;
  readonly events: readonly RouterEvent[];
  readonly end: () => Promise<void>;
}

function siteOf({ origin, folder, events, end }: Parts): Site {
  const engines = (): readonly EngineFacts[] => enginesIn(join(folder, "data", "engines"));
  const site: Site = {
    origin,
    events,
    engines,
    engine(model) {
      const found = engines().find((each) => each.model === model);
      if (found === undefined) throw new Error(`no engine of ${model} runs`);
      return found;
    },
    model: async (name) => (await ask(origin, `/v1/models/${name}`)).json<ModelWire>(),
    loads: (model) =>
      events.flatMap((event) =>
        event.type === "load.finished" && event.model === model && event.outcome === "ready"
          ? [event.tookMs / 1000]
          : [],
      ),
    swaps: async () => {
      const { text } = await ask(origin, "/metrics");
      return [...text.matchAll(/^sir_swaps_total\{[^}]*\} (\d+)/gm)].reduce((sum, [, count]) => sum + Number(count), 0);
    },
    async close() {
      open.delete(site);
      const before = new Set(engines().flatMap(({ pid }) => processesOf(pid)));
      await end();
      const left = [...before].filter(isRunning);
      rmSync(folder, { recursive: true, force: true });
      return left;
    },
  };
  return site;
}

function enginesIn(folder: string): EngineFacts[] {
  const names = readdirSync(folder, { encoding: "utf8" }).filter((name) => /^ins_.*\.json$/.test(name));
  return names.flatMap((name) => {
    try {
      const { model, pid, host, port, marker } = JSON.parse(readFileSync(join(folder, name), "utf8"));
      return typeof pid === "number" ? [{ model, pid, origin: `http://${host}:${port}`, marker }] : [];
    } catch {
      return [];
    }
  });
}
