// A whole router over two models of one server that others may use too: swaps under load, a model that somebody else
// unloads, a kill of the router, the next router. No model is loaded beside the other.

import { expect, it } from "vitest";
import { eventually, type RouterProcess, serve, tempFolder } from "../e2e/process.ts";
import { ask } from "../e2e/wire.ts";
import { fakeOllama } from "./fakes/ollama.ts";

const CHAT = "/v1/chat/completions";

async function answered(router: RouterProcess, model: string): Promise<number> {
  const body = JSON.stringify({ model, messages: [{ role: "user", content: "hi" }] });
  return (await ask(router.origin, CHAT, { body })).status;
}

async function stateOf(router: RouterProcess, model: string): Promise<string | undefined> {
  const { models } = (await ask(router.origin, "/v1/status")).json<{ models: { id: string; state: string }[] }>();
  return models.find((each) => each.id === model)?.state;
}

it("swaps, notices what others do, and takes over what an earlier router left", async () => {
  const fake = await fakeOllama("a", "b");
  const overlaps: string[] = [];
  let loads = 0;
  const load = fake.load.bind(fake);
  fake.load = (name) => {
    loads++;
    overlaps.push(...fake.loaded().filter((other) => other !== name));
    return load(name);
  };
  const backend = { driver: "ollama", baseUrl: fake.origin, watchSeconds: 0.5 };
  const model = { concurrency: 4, loadSeconds: 0.2, backend };
  const config = { server: { shutdownSeconds: 2 }, scheduler: { policy: "fifo" }, models: { a: model, b: model } };
  const folder = tempFolder();
  const first = await serve({ config, folder });

  const burst = await Promise.all(["a", "b", "a", "b", "a", "b"].map((name) => answered(first, name)));
  const loadsOfBurst = loads;
  const before = await answered(first, "b");
  fake.set("b", false);
  await eventually(async () => expect(await stateOf(first, "b")).toBe("absent"));
  const after = await answered(first, "b");
  await first.kill();
  const loadsBefore = loads;
  const second = await serve({ config, folder });
  const adopted = await answered(second, "b");
  const loadsAfter = loads;
  const swapped = await answered(second, "a");
  await second.stop();

  expect(burst).toEqual([200, 200, 200, 200, 200, 200]);
  expect(loadsOfBurst).toBe(2);
  expect([before, after, adopted, swapped]).toEqual([200, 200, 200, 200]);
  expect(loadsAfter - loadsBefore).toBe(0);
  expect(overlaps).toEqual([]);
});
