// Makes a store with a large past, to open a router on or to measure reads in:
//
//   node --import tsx bench/seed.ts PATH [jobs, 100000] [decisions, a quarter of them]

import Database from "better-sqlite3";
import { prepareWriter } from "../src/store/sqlite/connection.ts";
import { migrate } from "../src/store/sqlite/migrate.ts";
import { MIGRATIONS } from "../src/store/sqlite/open.ts";
import { seedPast } from "./seed-store.ts";

const [path, jobs = "100000", decisions = String(Math.round(Number(jobs) / 4))] = process.argv.slice(2);
if (path === undefined) throw new Error("Say where: node --import tsx bench/seed.ts PATH [jobs] [decisions]");
const db = new Database(path);
prepareWriter(db, "OFF");
migrate(db, MIGRATIONS);
const beganMs = performance.now();
const size = { jobs: Number(jobs), decisions: Number(decisions) };
seedPast(db, { ...size, nowMs: Date.now(), models: ["chat", "code", "gamma", "delta"], devices: ["gpu0", "gpu1"] });
db.close();
console.log(`${path}: ${jobs} jobs, ${decisions} decisions, ${Math.round(performance.now() - beganMs)} ms`);
