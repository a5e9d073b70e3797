// What `sir-router/client` promises those who import it: small, alone, and at home wherever the web's APIs are.

import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { createContext, runInContext } from "node:vm";
import { build, type Rolldown } from "vite";
import { describe, expect, it } from "vitest";
import type * as client from "../../src/client/index.ts";
import { replyWith, startEngine } from "../e2e/engine-server.ts";
import { PLAIN } from "../e2e/recorded-answers.ts";

const LIMIT_BYTES = 12_000;
const root = fileURLToPath(new URL("../../", import.meta.url));

async function bundled(format: "es" | "iife"): Promise<Rolldown.OutputChunk> {
  const built = await build({
    configFile: false,
    logLevel: "error",
    root,
    build: {
      write: false,
      minify: true,
      rolldownOptions: {
        input: `${root}/src/client/index.ts`,
        preserveEntrySignatures: "strict",
        // A bare import stays as it is, and is seen.
        external: (id) => !id.startsWith(".") && !id.startsWith("/"),
        output: { format, ...(format === "iife" ? { name: "sir" } : {}) },
      },
    },
  });
  const [{ output }] = (Array.isArray(built) ? built : [built]) as [Rolldown.RolldownOutput];
  expect(output).toHaveLength(1);
  return output[0];
}

describe("sir-router/client", () => {
  it(`is below ${LIMIT_BYTES} bytes minified, and imports nothing`, async () => {
    const { code, imports, dynamicImports, exports } = await bundled("es");

    expect(exports).toEqual(expect.arrayContaining(["sirFetch", "sir", "createClient"]));
    expect([...imports, ...dynamicImports]).toEqual([]);
    expect(Buffer.byteLength(code)).toBeLessThan(LIMIT_BYTES);
  });

  it("runs where there are web APIs and nothing else", async () => {
    const server = await startEngine(replyWith(200, PLAIN));
    const { code } = await bundled("iife");
    const web = {
      ...{ fetch, Headers, Request, Response, URL, AbortController, AbortSignal, DOMException },
      ...{ setTimeout, clearTimeout, performance, crypto, TextDecoder, ReadableStream },
    };
    const world = createContext(web) as typeof web & { sir: typeof client };
    runInContext(`${code}; globalThis.sir = sir;`, world);

    expect(runInContext("typeof process + typeof require + typeof Buffer", world)).toBe("undefined".repeat(3));
    const answer = await world.sir.createClient({ baseURL: server.origin }).run({ model: "m" });
    expect(answer).toMatchObject({ id: "chatcmpl-1" });
    expect(world.sir.sir().baseURL).toBe("http://127.0.0.1:8000/v1");
  });

  it("type-checks with the DOM's types alone", () => {
    const words = [
      "--noEmit",
      "--strict",
      "--target",
      "ES2023",
      "--lib",
      "ES2023,DOM",
      "--types",
      "",
      "--module",
      "ESNext",
    ];
    const more = ["--moduleResolution", "bundler", "--allowImportingTsExtensions", "--exactOptionalPropertyTypes"];
    const tsc = `${root}/node_modules/typescript/bin/tsc`;

    const told = execFileSync(process.execPath, [tsc, "--ignoreConfig", ...words, ...more, "src/client/index.ts"], {
      cwd: root,
      encoding: "utf8",
    });

    expect(told).toBe("");
  });
});
