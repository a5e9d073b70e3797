// Body files that lie in memory, for tests and simulations.

import type { FileBytes } from "../src/batches/files.ts";

export interface MemoryFiles extends FileBytes {
  readonly files: ReadonlyMap<string, Uint8Array>;
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
        overwrite: async (at, bytes) => {
          const whole = Buffer.concat(chunks.splice(0));
          whole.set(bytes, at);
          chunks.push(whole);
        },
        finish: async () => {
          files.set(uri, Buffer.concat(chunks));
        },
        discard: async () => {
          files.delete(uri);
        },
      };
    },
    slice: (uri, startByte, sizeBytes) => `${uri}#${startByte}+${sizeBytes}`,
    remove: async (uri) => {
      files.delete(uri);
    },
    async *open(uri) {
      const [name = "", start, size] = uri.split(/[#+]/);
      const bytes = files.get(name);
      if (bytes === undefined) throw new Error(`there is no ${uri}`);
      yield start === undefined ? bytes : bytes.subarray(Number(start), Number(start) + Number(size));
    },
  };
}
