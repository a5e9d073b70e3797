import Database from "better-sqlite3";
import { exerciseStore } from "./contract.ts";
import { type Given, openInMemory } from "./given.ts";

const databases = new Map<Given, Database.Database>();

async function openOn(database: Database.Database, options: object): Promise<Given> {
  const given = await openInMemory({ ...options, database });
  databases.set(given, database);
  return given;
}

exerciseStore("the store in this thread", {
  open: (options = {}) => openOn(new Database(":memory:"), options),
  reopen: (killed, options = {}) => openOn(databases.get(killed) ?? new Database(":memory:"), options),
});
