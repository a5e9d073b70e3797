// Run as a process of its own: opens a store, says how that went, and closes it.

import { join } from "node:path";
import { VirtualClock } from "../../src/simulator/virtual-clock.ts";
import { StoreOpenError } from "../../src/store/open-error.ts";
import { openSqliteStore } from "../../src/store/sqlite/open.ts";
import { nextOwner, settings } from "./given.ts";

const [, , directory = "", script = ""] = process.argv;
const options = { ...settings(new VirtualClock(), nextOwner(), []), script: new URL(script) };
try {
  const store = await openSqliteStore({ ...options, path: join(directory, "sir.db"), host: "worker" });
  await store.close();
  console.log(JSON.stringify({ fault: null }));
} catch (error) {
  const fault = error instanceof StoreOpenError ? error.fault : String(error);
  console.log(JSON.stringify({ fault }));
}
