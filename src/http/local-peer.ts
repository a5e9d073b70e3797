// Whether a request comes from this very machine: the peer's own address decides, never a header. A browser (an Origin
// that is not this page's own, or a Host that is some other name) is refused, so that no foreign web page comes through,
// and so is what a proxy passes on: its callers may be anywhere.

import { SirError } from "../domain/errors.ts";
import { type Call, socketOf } from "./deps.ts";

const OF_A_PROXY = ["forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip"];
const USE_KEYS = "With API keys in the configuration a key with the scope decides instead.";

/** @throws {SirError} admin_not_allowed */
export function requireLocalPeer(c: Call): void {
  const { headers } = c.req.raw;
  const address = socketOf(c).incoming?.socket.remoteAddress;
  if (address === undefined || !isLoopbackAddress(address)) {
    throw denied(`Without API keys this route answers only callers on the router's own machine. ${USE_KEYS}`);
  }
  if (OF_A_PROXY.some((name) => headers.has(name))) {
    throw denied(`Without API keys this route does not answer through a proxy. ${USE_KEYS}`);
  }
  const host = headers.get("host") ?? "";
  if (!isLoopbackHost(host)) {
    throw denied("This route must be called by a loopback name, such as localhost or 127.0.0.1.");
  }
  const origin = headers.get("origin");
  if (origin !== null && origin.toLowerCase() !== `http://${host.toLowerCase()}`) {
    throw denied("This route does not answer web pages of other origins.");
  }
}

function denied(message: string): SirError {
  return new SirError("admin_not_allowed", message);
}

function isLoopbackAddress(address: string): boolean {
  const v4 = address.toLowerCase().startsWith("::ffff:") ? address.slice(7) : address;
  return v4 === "::1" || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(v4);
}

function isLoopbackHost(host: string): boolean {
  const name = host.toLowerCase().replace(/:\d*$/, "");
  return name === "localhost" || name === "[::1]" || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(name);
}
