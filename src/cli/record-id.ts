// Ids as people type them: whole, the beginning, the end, or as a narrow table shows them. Ids begin with their instant, so
// those of one hour begin alike; the end is what tells them apart.

import { type Io, UsageError } from "./command.ts";
import { EXIT } from "./exit-codes.ts";
import { type RouterClient, RouterError } from "./router-client.ts";

export type RecordKind = "job" | "decision";

interface Kind {
  readonly prefix: "job" | "dec";
  readonly path: string;
  readonly code: string;
}

const KINDS: Readonly<Record<RecordKind, Kind>> = {
  job: { prefix: "job", path: "/v1/jobs", code: "job_not_found" },
  decision: { prefix: "dec", path: "/v1/decisions", code: "decision_not_found" },
};

/** Fewer say too little. */
const LEAST = 6;
/** An ending is looked for among the newest. */
const PAGES = 10;
const PAGE = 100;

/** The newest ids after this one, newest first; null: the newest of all. */
export type ReadIds = (after: string | null, limit: number) => Promise<readonly string[]>;

interface Typed {
  readonly start: string;
  readonly end: string;
}

/** @throws {UsageError} for what can be no id, or is several; {RouterError} where there is none */
export async function findId(kind: RecordKind, text: string, read: ReadIds): Promise<string> {
  const { prefix, code } = KINDS[kind];
  const word = text.trim().toLowerCase();
  if (new RegExp(`^${prefix}_[0-9a-f]{32}$`).test(word)) return word;
  const typed = partsOf(word, prefix);
  if (typed === null) {
    throw new UsageError(
      `"${text}" is no ${kind}'s id: give it whole, or at least ${LEAST} characters of its beginning or its end.`,
    );
  }
  const found = (await byStart(typed, prefix, read)) ?? (await byEnd(typed, read));
  const [only, another] = found;
  if (only === undefined) throw new RouterError(`There is no ${kind} "${text}".`, EXIT.missing, code);
  if (another === undefined) return only;
  throw new UsageError(`"${text}" is ${found.length} ${kind}s or more: ${found.join(", ")}. Give more of it.`);
}

/** `job_01a2…c349c51` is both ends; a bare text may be either. */
function partsOf(word: string, prefix: string): Typed | null {
  const bare = word.replace(new RegExp(`^${prefix}_`), "");
  const [start = "", end = ""] = bare.split(/…|~|\.\.\./);
  const digits = `${start}${end}`;
  return /^[0-9a-f]{6,32}$/.test(digits) && digits.length >= LEAST ? { start, end } : null;
}

/** Ids sort by their digits, so one page from there on tells. Null: it is not typed as a beginning, or begins none. */
async function byStart({ start, end }: Typed, prefix: string, read: ReadIds): Promise<readonly string[] | null> {
  if (end !== "") return null;
  const page = await read(`${prefix}_${start.padEnd(32, "f")}`, 3);
  const last = `${prefix}_${start.padEnd(32, "f")}`;
  const found = page.filter((id) => id.startsWith(`${prefix}_${start}`) || id === last);
  return found.length > 0 ? found : null;
}

async function byEnd({ start, end }: Typed, read: ReadIds): Promise<readonly string[]> {
  const tail = end === "" ? start : end;
  const head = end === "" ? "" : start;
  const found: string[] = [];
  let after: string | null = null;
  for (let page = 0; page < PAGES; page++) {
    const ids = await read(after, PAGE);
    found.push(...ids.filter((id) => id.endsWith(tail) && id.slice(id.indexOf("_") + 1).startsWith(head)));
    after = ids.at(-1) ?? null;
    if (ids.length < PAGE || found.length > 1) break;
  }
  return found;
}

/** The router's own lists. */
export function routerIds(kind: RecordKind, router: RouterClient): ReadIds {
  return async (after, limit) => {
    const query = new URLSearchParams({ limit: String(limit), ...(after === null ? {} : { after }) });
    const { data } = (await router.ask("GET", `${KINDS[kind].path}?${query}`)) as { data: { id: string }[] };
    return data.map(({ id }) => id);
  };
}

/** As narrow columns show it, and as `findId` takes it back. */
export function shortId(id: string, width: number, mark: string): string {
  const at = id.indexOf("_") + 1;
  const tail = Math.max(LEAST, width - at - mark.length);
  return id.length <= width ? id : `${id.slice(0, at)}${mark}${id.slice(-tail)}`;
}

/** For lines that are not tables: short on a terminal, whole off it. */
export function shownId(id: string, io: Io): string {
  return io.screen.out ? shortId(id, 13, io.screen.unicode ? "…" : "~") : id;
}
