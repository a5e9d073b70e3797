// A port that another program holds: who it is and what to type instead, before the store is touched.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { requireFreePort } from "../../src/cli/port-holder.ts";
import { answering, ENGINES, surroundings } from "../discovery/fakes.ts";
import { serve, tempFolder, writeConfig } from "../e2e/process.ts";
import { piped } from "./pseudo-terminal.ts";

describe("a port that is taken", () => {
  it("is said with its holder and with whole commands", async () => {
    const { port } = await answering(ENGINES.vllm);

    const fault = await requireFreePort({ host: "127.0.0.1", port }, "my.ts", surroundings()).catch((error) => error);

    expect(fault.text).toMatch(new RegExp(`^Port ${port} on 127\\.0\\.0\\.1 is in use( by vLLM)?\\.$`));
    const [, free] = /npm start -- --config my\.ts --port (\d+)`/.exec(fault.mend) ?? [];
    expect(fault.mend).toContain(`npx sir serve --config my.ts --port ${free}`);
    expect(fault.mend).toContain(`export SIR_URL=http://127.0.0.1:${free}`);
  });

  it("is none where nobody listens", async () => {
    const { port } = await answering({});

    await expect(requireFreePort({ host: "127.0.0.1", port: 0 }, undefined, surroundings())).resolves.toBeUndefined();
    await expect(requireFreePort({ host: "127.0.0.1", port }, undefined, surroundings())).rejects.toThrow();
  });

  it("keeps sir serve from opening its store; a router that runs there is named as one", async () => {
    const router = await serve({ folder: tempFolder(), config: { models: { chat: { backend: { driver: "mock" } } } } });
    const folder = tempFolder();
    const port = Number(new URL(router.origin).port);
    writeConfig(folder, { server: { port }, models: { chat: { backend: { driver: "mock" } } } });

    const { code, err } = await piped(["serve"], {}, folder);

    expect([code, existsSync(join(folder, "data"))]).toEqual([1, false]);
    expect(err).toContain(`Port ${port} on 127.0.0.1 is in use by a router that runs already.`);
    expect(err).toContain("mend: Take another:");
    await router.kill();
  });
});
