// The thread in which a large request is parsed.

import { parentPort, workerData } from "node:worker_threads";
import { examine } from "./examine.ts";

parentPort?.postMessage(examine(workerData as Uint8Array));
