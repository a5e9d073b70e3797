// Files over HTTP, in OpenAI's shapes.

import type { FileDesk } from "../batches/files.ts";
import { SirError } from "../domain/errors.ts";
import { parseFileId } from "../domain/ids.ts";
import type { StoredFile } from "../store/file-verbs.ts";
import { callerOf } from "./caller.ts";
import { type Call, type HttpWorld, socketOf } from "./deps.ts";
import { invalidQuery } from "./error-body.ts";
import { Outflow } from "./outflow.ts";
import { onlyKnown, readChoice, readLimit } from "./query.ts";
import { requestBody } from "./request-body.ts";

const MOST_LISTED = 10_000;
const NO_STORE = { "cache-control": "no-store" };

export async function uploadFile(c: Call, world: HttpWorld, desk: FileDesk): Promise<Response> {
  const { headers } = c.req.raw;
  const file = await desk.upload({
    caller: callerOf(c),
    header: (name) => headers.get(name),
    body: requestBody(c, world.clock),
  });
  return c.json(fileWire(file), 200, NO_STORE);
}

export async function listFiles(c: Call, world: HttpWorld): Promise<Response> {
  onlyKnown(c, ["purpose", "limit", "order", "after"]);
  const purpose = c.req.query("purpose");
  const after = readFileId(c);
  const page = await world.store.files.list({
    caller: callerOf(c),
    ...(purpose === undefined ? {} : { purpose }),
    ...(after === undefined ? {} : { after }),
    order: readChoice(c, "order", ["desc", "asc"], "desc") === "desc" ? "newest" : "oldest",
    limit: readLimit(c, MOST_LISTED, MOST_LISTED),
  });
  const data = page.data.map(fileWire);
  const ends = { first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
  return c.json({ object: "list", data, ...ends, has_more: page.hasMore }, 200, NO_STORE);
}

function readFileId(c: Call): NonNullable<ReturnType<typeof parseFileId>> | undefined {
  const text = c.req.query("after");
  if (text === undefined) return undefined;
  const id = parseFileId(text);
  if (id === null) throw invalidQuery("after", '"after" must be a file\'s id: file- and 32 hexadecimal digits.');
  return id;
}

export async function readFile(c: Call, world: HttpWorld): Promise<Response> {
  return c.json(fileWire(await ownFile(c, world)), 200, NO_STORE);
}

export async function deleteFile(c: Call, world: HttpWorld): Promise<Response> {
  const file = await ownFile(c, world);
  await world.store.files.remove(file.caller, file.id);
  return c.json({ id: file.id, object: "file", deleted: true }, 200, NO_STORE);
}

/** The file's bytes as they were uploaded or written. They are read as fast as the caller takes them. */
export async function readContent(c: Call, world: HttpWorld, desk: FileDesk): Promise<Response> {
  const file = await ownFile(c, world);
  const headers = contentHeaders(file);
  if (c.req.method === "HEAD") return new Response(null, { headers });
  const chunks = desk.open(file)[Symbol.asyncIterator]();
  const first = await chunks.next().catch(() => {
    throw noSuchFile();
  });
  const { outgoing } = socketOf(c);
  let isWanted = true;
  const gone = (): void => {
    isWanted = false;
  };
  const outflow = new Outflow(world.clock, gone, outgoing === undefined ? null : () => void outgoing.destroy());
  const send = async (): Promise<void> => {
    for (let next = first; next.done !== true && isWanted; next = await chunks.next()) await outflow.write(next.value);
    if (!isWanted) await chunks.return?.();
    outflow.end();
  };
  send().catch(() => outgoing?.destroy());
  return new Response(outflow.stream, { headers });
}

function contentHeaders({ filename, sizeBytes }: StoredFile): Record<string, string> {
  return {
    ...NO_STORE,
    "content-type": filename.endsWith(".jsonl") ? "application/jsonl" : "application/octet-stream",
    "content-length": String(sizeBytes),
    "content-disposition": `attachment; filename*=UTF-8''${encodeURIComponent(filename)}`,
  };
}

async function ownFile(c: Call, world: HttpWorld): Promise<StoredFile> {
  const id = parseFileId(c.req.param("id") ?? "");
  const file = id === null ? null : await world.store.files.get(callerOf(c), id);
  if (file === null) throw noSuchFile();
  return file;
}

function noSuchFile(): SirError {
  return new SirError("file_not_found", "There is no such file; it may have been deleted, or its time was over.");
}

export function fileWire(file: StoredFile) {
  return {
    id: file.id,
    object: "file",
    bytes: file.sizeBytes,
    created_at: Math.floor(file.createdAtMs / 1000),
    expires_at: file.expiresAtMs === null ? null : Math.floor(file.expiresAtMs / 1000),
    filename: file.filename,
    purpose: file.purpose,
    status: "processed",
    status_details: null,
  } as const;
}
