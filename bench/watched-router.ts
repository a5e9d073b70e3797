// A router with a large past, its load, and readers of its stream: what the pages' reads and their watching are measured on.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { prepareWriter } from "../src/store/sqlite/connection.ts";
import { migrate } from "../src/store/sqlite/migrate.ts";
import { MIGRATIONS } from "../src/store/sqlite/open.ts";
import { type RouterChild, type ScriptChild, startRouterChild, startScript } from "./children.ts";
import type { Stage } from "./figure.ts";
import { type Ask, type Client, createClient } from "./load.ts";
import { seedPast } from "./seed-store.ts";

const HOUR_MS = 3_600_000;
/** Beside the four of the past and `m`; also on the engine that costs nothing. */
export const WIDE = Array.from({ length: 55 }, (_, i) => `wide-${i}`);

export interface Scene {
  readonly router: RouterChild;
  readonly client: Client;
  readonly readers: ScriptChild;
  readonly port: number;
  progress(text: string): void;
  close(): Promise<void>;
}

/** @param jobs So many are in its past. */
export async function openScene(stage: Stage, jobs: number): Promise<Scene> {
  const engine = await startScript("./engine-process.ts");
  const router = await startRouterChild(stage.folder, seeded(stage, (engine.first as { port: number }).port, jobs));
  const readers = await startScript("./stream-readers.ts");
  const client = createClient(router.origin, 64);
  const close = async (): Promise<void> => {
    await client.close();
    await router.kill();
    await readers.kill();
    await engine.kill();
  };
  const port = Number(new URL(router.origin).port);
  return { router, client, readers, port, progress: (text) => stage.progress(text), close };
}

/** The configuration of a router whose store has a large past. */
function seeded({ folder, progress }: Stage, enginePort: number, jobs: number): object {
  progress(`storing ${jobs} jobs`);
  mkdirSync(join(folder, "data"), { recursive: true });
  const db = new Database(join(folder, "data", "sir.db"));
  prepareWriter(db, "OFF");
  migrate(db, MIGRATIONS);
  const mocks = ["chat", "code", "gamma", "delta"];
  seedPast(db, { jobs, decisions: jobs / 4, nowMs: Date.now(), models: mocks, devices: ["gpu0", "gpu1"] });
  db.close();
  const backend = { driver: "remote", baseUrl: `http://127.0.0.1:${enginePort}/v1` };
  return {
    devices: { gpu0: { memoryGiB: 24 }, gpu1: { memoryGiB: 24 } },
    models: {
      ...Object.fromEntries(mocks.map((name) => [name, { memoryGiB: 20, backend: { driver: "mock" } }])),
      ...Object.fromEntries(["m", ...WIDE].map((name) => [name, { concurrency: 64, backend }])),
    },
  };
}

/** A call of a model that waits for nothing. */
export function callOf(model: string): Ask {
  const messages = [{ role: "user", content: "Is this overhead?" }];
  return {
    method: "POST",
    path: "/v1/chat/completions",
    headers: { "content-type": "application/json" },
    body: Buffer.from(JSON.stringify({ model, messages })),
  };
}

export const CALL = callOf("m");

const query = (hours: number): string => `from_ms=${Date.now() - hours * HOUR_MS}`;

export const PAGES: readonly { name: string; path: () => string; belowMs?: number }[] = [
  { name: "/healthz, the floor", path: () => "/healthz" },
  { name: "/v1/status", path: () => "/v1/status", belowMs: 5 },
  { name: "/v1/timeline, 2 h", path: () => `/v1/timeline?${query(2)}`, belowMs: 20 },
  { name: "/v1/timeline, 24 h", path: () => `/v1/timeline?${query(24)}`, belowMs: 20 },
  { name: "/v1/series, 24 h", path: () => `/v1/series?${query(24)}&step_ms=300000` },
  { name: "jobs, newest 50", path: () => "/v1/jobs?view=rows&limit=50", belowMs: 5 },
  { name: "jobs, failed", path: () => "/v1/jobs?view=rows&limit=50&status=failed", belowMs: 5 },
  { name: "jobs, one model", path: () => "/v1/jobs?view=rows&limit=50&model=code", belowMs: 5 },
  { name: "jobs, one model's failed", path: () => "/v1/jobs?view=rows&limit=50&model=code&status=failed", belowMs: 5 },
  { name: "jobs, longest wait of 2 h", path: () => "/v1/jobs?view=rows&limit=50&sort=wait", belowMs: 5 },
  { name: "jobs, rare and bounded", path: () => "/v1/jobs?view=rows&limit=50&cause=router_down" },
  { name: "decisions, newest 20", path: () => "/v1/decisions", belowMs: 5 },
  { name: "decisions, forced", path: () => "/v1/decisions?reason=ceiling", belowMs: 5 },
];
