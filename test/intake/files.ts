// The spool in the words of intake, in a directory of the test's own.

import type { BodyFiles } from "../../src/intake/body-files.ts";
import { createSpool } from "../../src/store/spool.ts";

export interface TestFiles extends BodyFiles {
  open(uri: string): AsyncIterable<Uint8Array>;
}

export function createTestFiles(directory: string): TestFiles {
  const spool = createSpool(directory);
  let made = 0;
  return {
    async create() {
      const file = await spool.create(`body${++made}`);
      return {
        uri: file.uri,
        write: (bytes) => file.write(bytes),
        finish: () => file.commit(),
        discard: () => file.discard(),
      };
    },
    remove: (uri) => spool.remove(uri),
    open: (uri) => spool.open(uri),
  };
}
