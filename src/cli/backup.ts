// `sir backup`: the store copied while its router goes on. It reads the file itself, so that no route exists that writes
// to a path which a caller names.

import { resolve } from "node:path";
import { quantity } from "../scheduler/wording.ts";
import { StoreOpenError } from "../store/open-error.ts";
import { defineSirCommand, type Io } from "./command.ts";
import { EXIT } from "./exit-codes.ts";
import { HISTORY_ARGS, storePath } from "./history-source.ts";
import { instantText } from "./instant.ts";
import { bytesText, span } from "./quantity.ts";
import { startFault } from "./start-fault.ts";

export const backup = defineSirCommand({
  name: "backup",
  summary: "Copy the store, also while a router uses it.",
  examples: [
    ["sir backup --verify", "into a new folder here, and read it through"],
    ["sir backup --to /backups/monday/sir.db", "into that file; large bodies go beside it into spool/"],
    ["sir serve --store sqlite:/backups/monday/sir.db", "what is restored: a copy is a store"],
  ],
  args: {
    to: { type: "string", valueHint: "F", description: "The file to write; it must not exist yet." },
    verify: { type: "boolean", description: "Check the copy from end to end." },
    config: HISTORY_ARGS.config,
    store: HISTORY_ARGS.store,
  },
  run: async (args, io) => {
    const json = args["json"] === true;
    const to = resolve(io.cwd, typeof args["to"] === "string" ? args["to"] : defaultPath(io));
    const startMs = io.clock.nowMs();
    const { takeSnapshot } = await import("../store/sqlite/snapshot.ts");
    try {
      const found = await takeSnapshot(await storePath(args, io), to, args["verify"] === true);
      if (json) io.out(JSON.stringify({ object: "backup", ...found }));
      else {
        const kept = quantity(found.jobs, "job");
        const bodies = found.spooled === 0 ? "" : `, ${quantity(found.spooled, "body", "bodies")} beside it`;
        io.out(found.path);
        io.say(`${bytesText(found.bytes)}, ${kept}${bodies}, in ${span(io.clock.nowMs() - startMs)}${sound(found.ok)}`);
      }
      return EXIT.done;
    } catch (error) {
      const fault = startFault(error, { host: "", port: 0, dataDir: to });
      if (fault === null) throw error;
      const missing = error instanceof StoreOpenError && error.fault === "missing";
      if (json) io.err(JSON.stringify({ error: { code: "backup_failed", message: fault.text, mend: fault.mend } }));
      else io.err(`sir: ${fault.text}\n     mend: ${fault.mend}`);
      return missing ? EXIT.missing : EXIT.failed;
    }
  },
});

const sound = (ok: boolean | null): string => (ok === true ? ", verified" : ", not verified (--verify)");

function defaultPath(io: Io): string {
  const stamp = instantText(io.clock.wallMs(), io.zone).replaceAll(/[-:]/g, "").replace(" ", "-");
  return `sir-backup-${stamp}/sir.db`;
}
