// Each exit status of `sir`, brought about; what stands on standard output then, and what on standard error.

import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RouterProcess, serve, tempFolder, writeConfig } from "../e2e/process.ts";
import { inTerminal, piped, type Ran } from "./pseudo-terminal.ts";

const SIZE = { columns: 100, rows: 24 };
const fast = {
  driver: "mock",
  loadSeconds: 0.05,
  unloadSeconds: 0.05,
  firstTokenSeconds: 0.05,
  tokensPerSecond: 5_000,
};

let router: RouterProcess;
const sir = (...words: string[]): Promise<Ran> => piped(words, { SIR_URL: router.origin });

beforeAll(async () => {
  const models = {
    chat: { loadSeconds: 0.05, backend: fast },
    slow: { loadSeconds: 0.05, concurrency: 1, backend: { ...fast, firstTokenSeconds: 600 } },
    broken: { loadSeconds: 0.05, backend: { ...fast, failRequests: 100 } },
  };
  router = await serve({ folder: tempFolder(), config: { models, jobs: { maxAttempts: 1 } } });
});
afterAll(async () => {
  await router.kill();
});

describe("exit statuses", () => {
  it("0: an empty list is an answer, and one document as JSON", async () => {
    const { code, out, err } = await sir("jobs", "--status", "expired", "--json");

    expect([code, err]).toEqual([0, ""]);
    expect(JSON.parse(out)).toMatchObject({ object: "list", data: [], has_more: false });
  });

  it("0: an answer on standard output, everything else on standard error; the engine's bytes as JSON", async () => {
    const plain = await sir("submit", "-m", "chat", "hello");
    const json = await sir("submit", "-m", "chat", "--json", "-q", "hello");

    expect([plain.code, json.code, json.err]).toEqual([0, 0, ""]);
    expect(plain.out).toMatch(/^\[chat\]/);
    expect(plain.err).toContain("sir explain job_");
    expect(JSON.parse(json.out)).toMatchObject({ object: "chat.completion" });
  });

  it("1: the job failed", async () => {
    const { code, out, err } = await sir("submit", "-m", "broken", "-q", "hello");

    expect([code, out]).toEqual([1, ""]);
    expect(err).toMatch(/^sir: .+\n$/);
  });

  it("2: usage", async () => {
    const found = [await sir("submit", "hello"), await sir("explain", "xyz"), await sir("jobs", "--limit", "0")];

    expect(found.map(({ code, out }) => [code, out])).toEqual([
      [2, ""],
      [2, ""],
      [2, ""],
    ]);
  });

  it("2: a key is no argument, because others can read those", async () => {
    const { code, err } = await sir("submit", "-m", "chat", "-H", "Authorization: Bearer secret", "hello");

    expect(code).toBe(2);
    expect(err).toContain("SIR_API_KEY");
    expect(err).not.toContain("secret");
  });

  it("3: no router at that address, and none of its stores", async () => {
    const words = [["status"], ["submit", "-m", "chat", "hi"], ["explain", "job_00000000000000000000000000000000"]];
    for (const each of words) {
      const { code, out, err } = await piped([...each, "--url", "http://127.0.0.1:9", "--json"], {}, tempFolder());

      expect([each[0], code, out]).toEqual([each[0], 3, ""]);
      expect(JSON.parse(err)).toMatchObject({ error: { code: "unreachable" } });
    }
  });

  it("4: a key that is missing, wrong, or not allowed to; from the environment or a file", async () => {
    const folder = tempFolder();
    const key = "sir_test_key_of_a_watcher";
    const keys = { watcher: { sha256: createHash("sha256").update(key).digest("hex"), scopes: ["observe"] } };
    const guarded = await serve({ folder, config: { models: { chat: { backend: fast } }, keys } });
    const file = join(folder, "key");
    writeFileSync(file, `${key}\n`);
    const environment = { SIR_URL: guarded.origin };

    const none = await piped(["status"], environment);
    const wrong = await piped(["status"], { ...environment, SIR_API_KEY: "wrong" });
    const good = await piped(["status", "--key-file", file], environment);
    const notAllowed = await piped(["pause", "--json"], { ...environment, SIR_API_KEY: key });

    expect([none.code, wrong.code, good.code, notAllowed.code]).toEqual([4, 4, 0, 4]);
    expect(none.err).toContain("SIR_API_KEY or --key-file");
    expect(notAllowed.out).toBe("");
    expect(JSON.parse(notAllowed.err)).toMatchObject({ error: { code: expect.any(String) } });
    await guarded.kill();
  });

  it("5: no such job, model, decision, device", async () => {
    const words = [
      ["explain", "job_00000000000000000000000000000000"],
      ["jobs", "show", "00000000"],
      ["submit", "-m", "nobody", "hi"],
      ["decisions", "show", "dec_00000000000000000000000000000000"],
      ["explain", "device", "gpu9"],
    ];
    for (const each of words) {
      const { code, out } = await sir(...each);
      expect([each, code, out]).toEqual([each, 5, ""]);
    }
  });

  it("6: the job was cancelled, or expired", async () => {
    const id = (await sir("submit", "-m", "slow", "--detach", "-q", "hello")).out.trim();
    const cancelled = await sir("jobs", "cancel", id.slice(-10));
    const waited = await sir("jobs", "wait", id);

    expect([cancelled.code, cancelled.out]).toEqual([0, `${id}\tcancelled\n`]);
    expect([waited.code, waited.out]).toEqual([6, ""]);
  });

  it("7: --timeout passed, the job lives on, and how to come back is said", async () => {
    const { code, out, err } = await sir("submit", "-m", "slow", "--timeout", "1s", "hello");
    const id = /sir jobs wait (job_[0-9a-f]{32})/.exec(err)?.[1] ?? "";
    const left = await sir("jobs", "show", id);

    expect([code, out]).toEqual([7, ""]);
    expect(left.out).toMatch(/^status\t(in_progress|queued)$/m);
    await sir("jobs", "cancel", id);
  });

  it("7: a router that accepts and says nothing", async () => {
    const silent = createServer(() => undefined);
    await new Promise<void>((resolve) => {
      silent.listen(0, "127.0.0.1", () => resolve());
    });
    const { port } = silent.address() as AddressInfo;

    const { code, err } = await piped(["status", "--timeout", "0.3s", "--json"], {
      SIR_URL: `http://127.0.0.1:${port}`,
    });

    expect(code).toBe(7);
    expect(JSON.parse(err)).toMatchObject({ error: { code: "timeout" } });
    silent.closeAllConnections();
    silent.close();
  });

  it("8: doctor found an error", async () => {
    const folder = tempFolder();
    const remote = { driver: "remote", baseUrl: "http://127.0.0.1:9/v1" };
    const file = writeConfig(folder, { server: { port: 0 }, models: { chat: { backend: remote } } });

    expect((await piped(["doctor", "--config", file], {}, folder)).code).toBe(8);
  });

  it("130: interrupted; following goes on until then", async () => {
    for (const words of [
      ["decisions", "--follow"],
      ["jobs", "--watch"],
    ]) {
      const session = inTerminal(words, SIZE, { SIR_URL: router.origin });
      await session.until(/DECISION|JOB/);
      session.type("\u0003");
      expect((await session.ended).code).toBe(130);
    }
  });
});
