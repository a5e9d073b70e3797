// Where an answer about the past comes from: a running router, or the store's file when none runs. The question is often
// asked after a crash.

import type { DecisionList, DecisionWire } from "../client/wire.ts";
import type { ExplanationWire } from "../client/wire-explain.ts";
import type { JobRowList } from "../client/wire-live.ts";
import { type Io, UsageError } from "./command.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { HISTORY_ARGS } from "./history-source.ts";
import { type ReadIds, type RecordKind, routerIds } from "./record-id.ts";
import { NOT_A_ROUTER, ROUTER_ARGS, type RouterClient, RouterError, routerClient } from "./router-client.ts";

type Args = Readonly<Record<string, unknown>>;
export type DeskQuery = Readonly<Record<string, string>>;

export interface Desk {
  /** Null: it is the store's file. */
  readonly router: RouterClient | null;
  ids(kind: RecordKind): ReadIds;
  explain(job: string): Promise<ExplanationWire>;
  jobs(query: DeskQuery): Promise<JobRowList>;
  decisions(query: DeskQuery): Promise<DecisionList>;
  decision(id: string): Promise<DecisionWire>;
  close(): void;
}

const NEEDS_ROUTER = "needs_router";

export const DESK_ARGS = {
  ...ROUTER_ARGS,
  store: { ...HISTORY_ARGS.store, description: "Read this store, as sqlite:PATH, instead of asking a router." },
  config: { ...HISTORY_ARGS.config, description: "Configuration that names the store, when no router answers." },
} as const;

/**
 * Runs `work` with the router; with `--store`, or where none answers on this machine, with the store's file.
 * @throws {RouterError} as the router's where there is no store either
 */
export async function atDesk(args: Args, io: Io, work: (desk: Desk) => Promise<ExitCode>): Promise<ExitCode> {
  if (typeof args["store"] === "string") {
    if (args["url"] !== undefined) throw new UsageError("Give --url or --store, not both.");
    return await fromStore(args, io, work);
  }
  const router = await routerClient(args, io);
  try {
    return await work(routerDesk(router));
  } catch (error) {
    const down = error instanceof RouterError && error.exit === EXIT.unreachable && error.body.code !== NOT_A_ROUTER;
    if (!down || !isHere(router.url)) throw error;
    const stored = await storeHere(args, io);
    if (stored === null) throw error;
    const code = await withClosing(stored, work).catch((fault: unknown) => {
      throw fault instanceof RouterError && fault.body.code === NEEDS_ROUTER ? error : fault;
    });
    // Last, where it is seen: what stands above may be old.
    io.say(`sir: no router answers at ${router.url}; that is what its store says.`);
    return code;
  }
}

async function fromStore(args: Args, io: Io, work: (desk: Desk) => Promise<ExitCode>): Promise<ExitCode> {
  const { openStoreDesk } = await import("./store-desk.ts");
  return await withClosing(await openStoreDesk(args, io), work);
}

async function withClosing(desk: Desk, work: (desk: Desk) => Promise<ExitCode>): Promise<ExitCode> {
  try {
    return await work(desk);
  } finally {
    desk.close();
  }
}

/** Null where there is no store that can be read: then the router's absence is the news. */
async function storeHere(args: Args, io: Io): Promise<Desk | null> {
  const { openStoreDesk } = await import("./store-desk.ts");
  try {
    return await openStoreDesk(args, io);
  } catch {
    return null;
  }
}

/** Another machine's router has its store there. */
function isHere(url: string): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(url).hostname);
}

function routerDesk(router: RouterClient): Desk {
  const get = async <T>(path: string, query?: DeskQuery): Promise<T> =>
    (await router.ask("GET", query === undefined ? path : `${path}?${new URLSearchParams(query)}`)) as T;
  return {
    router,
    ids: (kind) => routerIds(kind, router),
    explain: (job) => get(`/v1/jobs/${job}/explain`),
    jobs: (query) => get("/v1/jobs", { view: "rows", ...query }),
    decisions: (query) => get("/v1/decisions", query),
    decision: (id) => get(`/v1/decisions/${id}`),
    close: () => undefined,
  };
}

/** @throws {RouterError} where only a running router can tell */
export function needsRouter(desk: Desk, what: string): RouterClient {
  if (desk.router !== null) return desk.router;
  throw new RouterError(`${what} is known to a running router alone.`, EXIT.unreachable, NEEDS_ROUTER);
}
