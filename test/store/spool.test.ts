import { existsSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createSpool, type Spool } from "../../src/store/spool.ts";
import { added, caller, newJob, nextHex } from "./given.ts";
import { openOnFile, temporaryDirectory } from "./on-file.ts";

async function spooled(spool: Spool, text: string): Promise<string> {
  const file = await spool.create(`job_${nextHex()}`);
  for (const half of [text.slice(0, 7), text.slice(7)]) await file.write(Buffer.from(half));
  await file.commit();
  return file.uri;
}

async function textOf(spool: Spool, uri: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of spool.open(uri)) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

function withFile(uri: string, sizeBytes: number): ReturnType<typeof newJob> {
  const job = newJob();
  return { ...job, body: { ...job.body, sizeBytes, source: { kind: "file", uri } } };
}

test("a spooled body is read back as it was written, by its URI", async () => {
  const directory = temporaryDirectory();
  const spool = createSpool(directory);
  const { store } = await openOnFile(directory);
  const text = "many bytes of many parts";

  const uri = await spooled(spool, text);
  const job = await added(store, withFile(uri, text.length));

  expect(uri).toMatch(/^file:spool\/job_[0-9a-f]{32}$/);
  expect((await store.body(job.id))?.source).toEqual({ kind: "file", uri });
  expect(await textOf(spool, uri)).toBe(text);
  expect((await store.usage()).storedBytes).toBe(text.length);
  expect(statSync(join(directory, "spool")).mode & 0o777).toBe(0o700);
});

test("the file goes with the job's body, not before", async () => {
  const directory = temporaryDirectory();
  const spool = createSpool(directory);
  const { store } = await openOnFile(directory);
  const job = await added(store, withFile(await spooled(spool, "text to be purged"), 17));
  const before = readdirSync(join(directory, "spool"));
  await store.end(job.id, { type: "cancel", reason: "client" });
  const ended = readdirSync(join(directory, "spool"));

  await store.purge(job.id);

  expect([before.length, ended.length]).toEqual([1, 1]);
  expect(readdirSync(join(directory, "spool"))).toEqual([]);
  expect(await store.body(job.id)).toBeNull();
});

test("what no job refers to is swept at the next start, and nothing else", async () => {
  const directory = temporaryDirectory();
  const spool = createSpool(directory);
  const first = await openOnFile(directory);
  const kept = await spooled(spool, "kept for its job");
  const lost = await spooled(spool, "lost between file and row");
  const job = await added(first.store, withFile(kept, 16));
  writeFileSync(join(directory, "spool", "half-written"), "x");
  await first.store.close();

  const second = await openOnFile(directory);

  expect(readdirSync(join(directory, "spool"))).toEqual([kept.split("/")[1]]);
  expect(existsSync(join(directory, lost.slice("file:".length)))).toBe(false);
  expect((await second.store.body(job.id))?.source).toEqual({ kind: "file", uri: kept });
});

test("a body given up leaves nothing, and a URI leads nowhere else", async () => {
  const directory = temporaryDirectory();
  const spool = createSpool(directory);
  const file = await spool.create("job_1");
  await file.write(Buffer.from("half"));

  await file.discard();
  await file.discard();

  expect(readdirSync(join(directory, "spool"))).toEqual([]);
  await expect(spool.create("../escape")).rejects.toThrow("may hold");
  expect(() => spool.open("file:spool/..")).toThrow("not the URI");
  expect(() => spool.open("file:../../etc/passwd.d/.")).toThrow("not the URI");
});

test("a copy holds every job, and only this user may read it", async () => {
  const directory = temporaryDirectory();
  const { store } = await openOnFile(directory);
  const jobs = await Promise.all([1, 2, 3].map(() => added(store, newJob({ caller: caller("me") }))));
  const target = join(directory, "copy", "sir.db");

  const other = temporaryDirectory();
  await store.backup(join(other, "sir.db"));
  const missing = await store.backup(target).catch((error: unknown) => error);
  const restored = await openOnFile(other);

  expect(missing).toMatchObject({ name: "StoreError" });
  expect(statSync(join(other, "sir.db")).mode & 0o077).toBe(0);
  for (const job of jobs) expect(await restored.store.job(job.id)).toEqual(job);
});
