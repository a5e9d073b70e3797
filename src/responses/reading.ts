// Requests are parsed here and nowhere else: small ones in place, large ones in a thread of their own, one at a time, so
// that a body of megabytes stops nobody.

import { Worker } from "node:worker_threads";
import { type Examined, examine } from "./examine.ts";

/** Parsing so much takes a few milliseconds. */
const IN_PLACE_BYTES = 262_144;

let busy: Promise<unknown> = Promise.resolve();

/** @param bytes JSON, checked already; they stay the caller's. */
export function readRequest(bytes: Uint8Array, inPlaceBytes = IN_PLACE_BYTES): Promise<Examined> {
  if (bytes.byteLength <= inPlaceBytes) return Promise.resolve(examine(bytes));
  const read = busy.then(() => inThread(bytes));
  busy = read.catch(() => undefined);
  return read;
}

function inThread(bytes: Uint8Array): Promise<Examined> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(beside(), { workerData: bytes });
    worker.once("message", resolve);
    worker.once("error", reject);
    worker.once("exit", (code) => reject(new Error(`the reading thread ended with code ${code}`)));
  });
}

/** Built, or from source: there the thread needs tsx, which it does not inherit. */
function beside(): URL {
  return new URL(import.meta.url.endsWith(".ts") ? "./worker-from-source.mjs" : "./worker.js", import.meta.url);
}
