import { copyFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { exerciseStore } from "./contract.ts";
import type { Given } from "./given.ts";
import { openOnFile, temporaryDirectory } from "./on-file.ts";

const directories = new Map<Given, string>();

async function openIn(directory: string, options: object): Promise<Given> {
  const given = await openOnFile(directory, options);
  directories.set(given, directory);
  return given;
}

exerciseStore("the store with a writer's thread", {
  open: (options = {}) => openIn(temporaryDirectory(), options),
  // A kill leaves database and WAL as they are: that is what a copy of both, made between commits, is.
  reopen(killed, options = {}) {
    const directory = temporaryDirectory();
    for (const name of ["sir.db", "sir.db-wal"]) {
      const from = join(directories.get(killed) ?? "", name);
      if (existsSync(from)) copyFileSync(from, join(directory, name));
    }
    return openIn(directory, options);
  },
});
