// Body files that lie in memory, for tests and simulations.

import type { BodyFiles } from "../src/intake/body-files.ts";

export interface MemoryFiles extends BodyFiles {
  readonly files: ReadonlyMap<string, Uint8Array>;
  open(uri: string): AsyncIterable<Uint8Array>;
}

export function memoryFiles(): MemoryFiles {
  const files = new Map<string, Uint8Array>();
  let made = 0;
  return {
    files,
    async create() {
      const uri = `file:body-${++made}`;
      const chunks: Uint8Array[] = [];
      return {
        uri,
        write: async (bytes) => {
          chunks.push(bytes);
        },
        finish: async () => {
          files.set(uri, Buffer.concat(chunks));
        },
        discard: async () => {
          files.delete(uri);
        },
      };
    },
    remove: async (uri) => {
      files.delete(uri);
    },
    async *open(uri) {
      const bytes = files.get(uri);
      if (bytes === undefined) throw new Error(`there is no ${uri}`);
      yield bytes;
    },
  };
}
