// Why a router could not start, in words, with what to do about it.

import { StoreOpenError } from "../store/open-error.ts";
import { PortTaken } from "./port-holder.ts";

export interface Fault {
  readonly text: string;
  readonly mend: string;
}

export interface Where {
  readonly host: string;
  readonly port: number;
  /** Null in memory. */
  readonly dataDir: string | null;
}

/** Null when it is none that a person can mend: then it is a bug, and its stack is of use. */
export function startFault(error: unknown, where: Where): Fault | null {
  for (let each: unknown = error; each instanceof Error; each = each.cause) {
    if (each instanceof StoreOpenError) return { text: sentence(each.message), mend: sentence(each.mend) };
    if (each instanceof PortTaken) return each;
    const fault = "code" in each && typeof each.code === "string" ? faultOfCode(each.code, where) : null;
    if (fault !== null) return fault;
  }
  return null;
}

function sentence(text: string): string {
  const trimmed = text.trim().replace(/\.$/, "");
  return `${trimmed.charAt(0).toUpperCase()}${trimmed.slice(1)}.`;
}

function faultOfCode(code: string, { host, port, dataDir }: Where): Fault | null {
  const folder = dataDir ?? "the data directory";
  switch (code) {
    case "EADDRINUSE":
      return {
        text: `Port ${port} on ${host} is in use.`,
        mend: "Stop what listens there (another router?), or choose another with --port.",
      };
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return {
        text: `This machine has no address ${host}.`,
        mend: "Set server.host to 127.0.0.1, 0.0.0.0 or an own address.",
      };
    case "EACCES":
    case "EPERM":
      return {
        text:
          port > 0 && port < 1024
            ? `Port ${port} or ${folder} may not be used by this user.`
            : `${folder} may not be written by this user.`,
        mend: "Give this user the rights, or choose another port or store.url.",
      };
    case "EROFS":
    case "SQLITE_READONLY":
    case "SQLITE_CANTOPEN":
      return { text: `${folder} cannot be written.`, mend: "Mount it writable, or choose another store.url." };
    case "ENOSPC":
    case "EDQUOT":
    case "SQLITE_FULL":
      return {
        text: `The disk under ${folder} is full.`,
        mend: "Free some space: a router must be able to write before it may accept work.",
      };
    case "SQLITE_BUSY":
      return {
        text: `The store in ${folder} is held by another process.`,
        mend: "Stop the other router, or give this one its own store.",
      };
    default:
      return null;
  }
}
