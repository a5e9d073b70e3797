// Run as a process of its own: waits for the instant all starters wait for, then migrates.

import Database from "better-sqlite3";
import { migrate } from "../../src/store/sqlite/migrate.ts";

const [, , path = "", folder = "", startMs = "0"] = process.argv;
const db = new Database(path);
db.pragma("busy_timeout = 5000");
while (Date.now() < Number(startMs));
try {
  console.log(JSON.stringify({ count: migrate(db, folder), error: null }));
} catch (error) {
  console.log(JSON.stringify({ count: 0, error: String(error) }));
}
