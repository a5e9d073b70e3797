// Where recorded traffic is read from: the store's file, beside a router that may hold it, or a router over HTTP.

import type { History } from "../store/history.ts";
import { StoreOpenError } from "../store/open-error.ts";
import type { StoreFile } from "../store/sqlite/store-file.ts";
import { type Io, UsageError } from "./command.ts";
import { remoteHistory } from "./remote-history.ts";
import { ROUTER_ARGS, routerClient } from "./router-client.ts";
import { startFault } from "./start-fault.ts";

export const HISTORY_ARGS = {
  config: { type: "string", valueHint: "FILE", description: "Configuration that names the store (SIR_CONFIG)." },
  store: {
    type: "string",
    valueHint: "URL",
    description: "The store itself, as sqlite:PATH; wins over the configuration.",
  },
  url: {
    type: "string",
    valueHint: "ORIGIN",
    description: "Read over HTTP from the router there (SIR_URL), instead of a file.",
  },
  keyFile: ROUTER_ARGS.keyFile,
} as const;

export interface HistorySource {
  readonly history: History;
  /** In words. */
  readonly name: string;
  close(): void;
}

/** @throws {UsageError} with a mend, when there is no store to read */
export async function openHistorySource(args: Readonly<Record<string, unknown>>, io: Io): Promise<HistorySource> {
  if (isTold(args, io)) {
    const router = await routerClient(args, io);
    return { history: remoteHistory(router), name: router.url, close: () => undefined };
  }
  const { file, path } = await openStoredFile(args, io);
  return { ...file, name: path };
}

/** Whether a router was named rather than a store. */
function isTold({ url, store, config }: Readonly<Record<string, unknown>>, { environment }: Io): boolean {
  if (url !== undefined || store !== undefined || config !== undefined) return typeof url === "string";
  return Boolean(environment["SIR_URL"]);
}

/** @throws {UsageError} with a mend, when there is no store to read */
export async function openStoredFile(
  args: Readonly<Record<string, unknown>>,
  io: Io,
): Promise<{ readonly file: StoreFile; readonly path: string }> {
  const { openStoreFile } = await import("../store/sqlite/store-file.ts");
  try {
    const path = await storePath(args, io);
    return { file: openStoreFile(path), path };
  } catch (error) {
    if (!(error instanceof StoreOpenError)) throw error;
    const fault = startFault(error, { host: "", port: 0, dataDir: null });
    throw new UsageError(`${fault?.text ?? error.message} ${fault?.mend ?? error.mend}`);
  }
}

/** The database that flags or configuration name. @throws {UsageError} */
export async function storePath(args: Readonly<Record<string, unknown>>, io: Io): Promise<string> {
  const { config, store } = args;
  if (typeof store === "string") return (await import("../store/open.ts")).sqlitePath(store, io.cwd);
  const flags = typeof config === "string" ? { config } : {};
  const { loadConfig } = await import("../config/load.ts");
  const { databasePath } = (await loadConfig({ cwd: io.cwd, environment: io.environment, flags })).store;
  if (databasePath === null)
    throw new UsageError("The configuration keeps its store in memory; name one with --store.");
  return databasePath;
}
