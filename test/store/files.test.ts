import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { FileId } from "../../src/domain/ids.ts";
import { LOCAL_CALLER } from "../../src/domain/ids.ts";
import { createSpool } from "../../src/store/spool.ts";
import { nextHex } from "./given.ts";
import { openOnFile, temporaryDirectory } from "./on-file.ts";

const DAY_MS = 86_400_000;

async function scene() {
  const directory = temporaryDirectory();
  const spool = createSpool(directory);
  const write = async (text: string) => {
    const file = await spool.create(`req_${nextHex()}`);
    await file.write(Buffer.from(text));
    await file.commit();
    return file.uri;
  };
  const newFile = (uri: string, ttlMs: number | null = DAY_MS) => ({
    ...{
      id: `file-${nextHex()}` as FileId,
      caller: LOCAL_CALLER,
      purpose: "batch",
      filename: "in.jsonl",
      sizeBytes: 3,
    },
    ...{ uri, ttlMs },
  });
  return { directory, write, newFile, spooled: () => readdirSync(join(directory, "spool")) };
}

it("a router that died between the bytes and the row leaves no orphan, and no file loses its bytes", async () => {
  const { directory, write, newFile, spooled } = await scene();
  const first = await openOnFile(directory);
  const kept = await write("abc");
  const file = await first.store.files.add(newFile(kept));
  await write("never acknowledged");
  await first.store.close();

  const { store } = await openOnFile(directory);

  expect(spooled()).toEqual([kept.replace("file:spool/", "")]);
  expect(await store.files.get(LOCAL_CALLER, (file as { id: FileId }).id)).toEqual(file);
  expect((await store.usage()).storedBytes).toBe(3);
});

it("bytes go with their row: at once when it is deleted, with the next pruning when its time is over", async () => {
  const { directory, write, newFile, spooled } = await scene();
  const { store, clock } = await openOnFile(directory);
  const deleted = newFile(await write("abc"));
  await store.files.add(deleted);
  await store.files.add(newFile(await write("def"), DAY_MS));

  expect(await store.files.remove(LOCAL_CALLER, deleted.id)).toBe(true);
  expect(await store.files.remove(LOCAL_CALLER, deleted.id)).toBe(false);
  expect(spooled()).toHaveLength(1);
  await clock.runUntil(clock.nowMs() + DAY_MS);
  await store.prune();

  expect(spooled()).toEqual([]);
  expect((await store.usage()).storedBytes).toBe(0);
});

it("a backup takes the bytes of files along", async () => {
  const { directory, write, newFile } = await scene();
  const { store } = await openOnFile(directory);
  await store.files.add(newFile(await write("abc")));
  const elsewhere = temporaryDirectory();

  await store.backup(join(elsewhere, "copy.db"));

  expect(readdirSync(join(elsewhere, "spool"))).toHaveLength(1);
});
