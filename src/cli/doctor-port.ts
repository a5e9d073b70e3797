// Whether the router's address is free, or held by a router already.

import type { ServerSettings } from "../config/resolved.ts";
import { ownPort } from "../discovery/own-port.ts";
import type { Surroundings } from "../discovery/surroundings.ts";
import { type Check, fault, ok } from "./check.ts";
import { engineAt, isRouter, tryListen } from "./port-holder.ts";
import { startFault } from "./start-fault.ts";

export async function checkPort({ host, port }: ServerSettings, surroundings: Surroundings): Promise<Check> {
  const error = await tryListen(host, port);
  if (error === null) return ok("address", port === 0 ? `${host}, any free port` : `${host}:${port} is free`);
  if (error.code === "EADDRINUSE" && (await isRouter(host, port))) {
    return ok("address", `${host}:${port} is held by a running router`);
  }
  const engine = error.code === "EADDRINUSE" ? await engineAt(host, port, surroundings) : null;
  if (engine !== null) {
    // 8000 is vLLM's own default too.
    const { port: free } = await ownPort(host);
    return fault(
      "address",
      `${host}:${port} belongs to ${engine}.`,
      `Set server.port to ${free}, or start with --port ${free}.`,
    );
  }
  const found = startFault(error, { host, port, dataDir: null });
  return fault(
    "address",
    found?.text ?? `${host}:${port}: ${error.message}.`,
    found?.mend ?? "Choose another address.",
  );
}
