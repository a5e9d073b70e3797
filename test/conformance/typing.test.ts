// What the presets return is what each client's own types ask for, and a job's types are not `any`.

import { execFile } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it, vi } from "vitest";

vi.setConfig({ testTimeout: 300_000 });

const runs = promisify(execFile);
const root = fileURLToPath(new URL("../../", import.meta.url));
const folder = fileURLToPath(new URL("./clients/", import.meta.url));

const CONSUMER = `
import "openai4/shims/web";
import OpenAI4 from "openai4";
import OpenAI5 from "openai5";
import OpenAI6 from "openai6";
import OpenAI7 from "openai7";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { ChatOpenAI, OpenAIEmbeddings } from "@langchain/openai";
import { createClient, JobFailed, type Receipt, sir, sirFetch, sirLangChain, sirProvider } from "sir-router/client";

export const clients = [
  new OpenAI4(sir()),
  new OpenAI5(sir({ baseURL: "http://127.0.0.1:8000/v1", apiKey: "none", deadlineSeconds: 60 })),
  new OpenAI6({ ...sir(), defaultHeaders: { "SIR-Priority": "batch" } }),
  new OpenAI7({ apiKey: "none", fetch: sirFetch() }),
  createOpenAI(sirProvider()),
  createOpenAICompatible({ name: "sir", ...sirProvider() }),
  new ChatOpenAI({ model: "m", ...sirLangChain() }),
  new OpenAIEmbeddings({ model: "m", ...sirLangChain() }),
];
export const plain: typeof fetch = sirFetch({ fetch });

export async function jobs(): Promise<Receipt | null> {
  const client = createClient();
  const job = await client.submit({ model: "m", input: "x" });
  for await (const event of job.events()) event.receipt.status satisfies string;
  for await (const receipt of client.jobs.list({ status: "failed" })) receipt.id satisfies string;
  const answer = await client.run<{ id: string }>({ model: "m" });
  answer.id satisfies string;
  // @ts-expect-error: an answer is unknown until its caller says what it is
  (await job.result()).id;
  try {
    await job.result();
  } catch (error) {
    if (error instanceof JobFailed) error.status satisfies number;
  }
  return job.receipt;
}
`;

const project = (module: string, moduleResolution: string) => ({
  compilerOptions: {
    ...{ noEmit: true, strict: true, exactOptionalPropertyTypes: true, skipLibCheck: true, types: [] },
    ...{ target: "ES2023", lib: ["ES2023", "DOM", "DOM.AsyncIterable"], allowImportingTsExtensions: true },
    ...{ module, moduleResolution, paths: { "sir-router/client": [`${root}src/client/index.ts`] } },
  },
  files: ["consumer.mts"],
});

describe("the client's types", () => {
  it.each([
    ["ESNext", "bundler"],
    ["nodenext", "nodenext"],
  ])("fit those of every SDK under %s", { concurrent: false }, async (module, resolution) => {
    writeFileSync(`${folder}consumer.mts`, CONSUMER);
    writeFileSync(`${folder}tsconfig.json`, JSON.stringify(project(module, resolution)));
    try {
      const tsc = `${root}node_modules/typescript/bin/tsc`;
      const { stdout } = await runs(process.execPath, [tsc, "-p", `${folder}tsconfig.json`]).catch((error) => error);

      expect(stdout).toBe("");
    } finally {
      for (const file of ["consumer.mts", "tsconfig.json"]) rmSync(`${folder}${file}`);
    }
  });
});
