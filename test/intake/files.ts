// Large bodies in a directory, as intake asks for it.

import { createReadStream } from "node:fs";
import { open, rm } from "node:fs/promises";
import { join } from "node:path";
import type { BodyFiles } from "../../src/intake/body-files.ts";

export interface TestFiles extends BodyFiles {
  open(uri: string): AsyncIterable<Uint8Array>;
}

export function createTestFiles(directory: string): TestFiles {
  let count = 0;
  const pathOf = (uri: string): string => join(directory, uri.slice("file:".length));
  const remove = (uri: string): Promise<void> => rm(pathOf(uri), { force: true });
  return {
    async create() {
      const uri = `file:${++count}.body`;
      const file = await open(pathOf(uri), "wx");
      let isOpen = true;
      const close = async (): Promise<void> => {
        if (isOpen) await file.close();
        isOpen = false;
      };
      return {
        uri,
        async write(bytes) {
          await file.write(bytes);
        },
        finish: close,
        async discard() {
          await close();
          await remove(uri);
        },
      };
    },
    remove,
    open: (uri) => createReadStream(pathOf(uri)),
  };
}
