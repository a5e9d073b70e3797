// What a SqliteStore is put together from.

import type { Database } from "better-sqlite3";
import type { OwnerId } from "../../domain/ids.ts";
import type { Ranking } from "../../domain/ranking.ts";
import type { Boot } from "./boot.ts";
import type { Host } from "./host.ts";
import type { Outbox } from "./outbox.ts";

export interface SqliteStoreParts {
  readonly owner: OwnerId;
  readonly ranking: Ranking;
  readonly boot: Boot;
  readonly outbox: Outbox;
  readonly host: Host;
  readonly reader: Database;
  /** Fails when the files are no longer those that were opened. */
  readonly verifyFiles: () => void;
  /** Fail-stop. */
  readonly onBroken: (error: Error) => void;
  /** Puts the files a copy of the database refers to beside it. */
  readonly copySpool: (copy: string) => Promise<void>;
  /** Before the host closes. */
  readonly closeReader: () => void;
  /** After the host was closed: what else was held. */
  readonly release: () => void;
}
