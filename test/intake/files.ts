// The spool in the words of intake, in a directory of the test's own.

import type { FileBytes } from "../../src/batches/files.ts";
import { createSpool } from "../../src/store/spool.ts";

export type TestFiles = FileBytes;

export function createTestFiles(directory: string): TestFiles {
  const spool = createSpool(directory);
  let made = 0;
  return {
    async create() {
      const file = await spool.create(`body${++made}`);
      return {
        uri: file.uri,
        write: (bytes) => file.write(bytes),
        overwrite: (at, bytes) => file.overwrite(at, bytes),
        finish: () => file.commit(),
        discard: () => file.discard(),
      };
    },
    remove: (uri) => spool.remove(uri),
    open: (uri) => spool.open(uri),
    slice: (uri, startByte, sizeBytes) => spool.slice(uri, startByte, sizeBytes),
  };
}
