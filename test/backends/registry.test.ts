// Which drivers there are, what the configuration knows of them, and how backends are made.

import { describe, expect, expectTypeOf, it } from "vitest";
import type { Driver } from "../../src/backends/backend.ts";
import { GpuLedger } from "../../src/backends/mock/gpu-ledger.ts";
import { mockDriver } from "../../src/backends/mock.ts";
import { type BackendConfig, createBackends, drivers } from "../../src/backends/registry.ts";
import { remote, remoteOptions } from "../../src/backends/remote.ts";
import { VirtualClock } from "../../src/simulator/virtual-clock.ts";
import { never } from "./mock-rig.ts";
import { GPU, placementOf, specOf } from "./samples.ts";

describe("the drivers", () => {
  it("have each their own name and explain each of their options", () => {
    const names = drivers.map((driver) => driver.name);
    expect(names).toEqual([...new Set(names)]);
    expect(names).toEqual(expect.arrayContaining(["mock", "remote"]));
    for (const driver of drivers) {
      const { shape } = driver.options as unknown as { shape: Record<string, { description?: string }> };
      for (const [name, option] of Object.entries(shape)) {
        expect(option.description, `${driver.name}.${name}`).toMatch(/\.$/);
      }
    }
  });

  it("give the configuration its types", () => {
    expectTypeOf<{ driver: "mock"; loadSeconds: 5 }>().toExtend<BackendConfig>();
    expectTypeOf<{ driver: "remote"; baseUrl: string }>().toExtend<BackendConfig>();
    expectTypeOf<{ driver: "remote" }>().not.toExtend<BackendConfig>();
    expectTypeOf<{ driver: "other" }>().not.toExtend<BackendConfig>();
  });
});

describe("making backends", () => {
  const group = (driver: Driver, ...names: string[]) => ({
    driver,
    members: names.map((name) => ({
      spec: specOf(name),
      options: driver.options.parse(driver === mock ? {} : { baseUrl: "http://127.0.0.1:1/v1" }),
    })),
  });
  const mock: Driver = mockDriver();

  it("gives models of one group one backend, and others their own", async () => {
    const groups = [group(mock, "a"), group(remote, "b", "c")];

    const backends = createBackends(groups, { clock: new VirtualClock() });

    const [a, b, c] = ["a", "b", "c"].map((name) => backends.get(specOf(name).name));
    expect(a?.can.loads).toBe(true);
    expect(b?.can.loads).toBe(false);
    expect(b).toBe(c);
    await Promise.all([a?.close(), b?.close()]);
  });

  it("shares one remote between models with the same options, without telling its key", () => {
    const keyOf = (over: object): string =>
      remote.shareKey(specOf("a").name, remoteOptions.parse({ baseUrl: "http://h/v1", ...over }));

    expect(keyOf({ apiKey: "secret" })).toBe(keyOf({ apiKey: "secret" }));
    expect(keyOf({ apiKey: "secret" })).not.toBe(keyOf({ apiKey: "other" }));
    expect(keyOf({ apiKey: "secret" })).not.toContain("secret");
  });

  it("takes a stand-in for a driver of the same name", async () => {
    const ledger = new GpuLedger();
    const clock = new VirtualClock();

    const backends = createBackends([group(mock, "a")], { clock }, [mockDriver({ ledger })]);
    void backends.get(specOf("a").name)?.start(placementOf("a"), () => {}, never);

    expect(ledger.holders(GPU)).toEqual(["a"]);
  });
});

describe("remote's options", () => {
  it.each([
    ["http://127.0.0.1:8000", "did you mean http://127.0.0.1:8000/v1?"],
    ["http://h/v1/chat/completions", "did you mean http://h/v1?"],
    ["ftp://h/v1", "must begin with http:// or https://"],
    ["not a url", "must be a URL such as"],
    ["http://u:p@h/v1", "must hold no user name or password"],
    ["http://h/v1?x=1", "must have no query"],
  ])("refuse the address %s in words", (baseUrl, words) => {
    const parsed = remoteOptions.safeParse({ baseUrl });

    expect(parsed.error?.issues.map((issue) => issue.message).join()).toContain(words);
  });

  it.each(["http://h/v1", "https://h:8443/gateway/v1/"])("take %s", (baseUrl) => {
    expect(remoteOptions.safeParse({ baseUrl }).success).toBe(true);
  });

  it("refuse headers that are set for each request, that no header may be, or that contradict the key", () => {
    const issues = (over: object): string =>
      remoteOptions
        .safeParse({ baseUrl: "http://h/v1", ...over })
        .error?.issues.map((issue) => JSON.stringify(issue))
        .join() ?? "";

    expect(issues({ headers: { "Content-Length": "3" } })).toContain("set for each request");
    expect(issues({ headers: { "x y": "3" } })).toContain("is no header name");
    expect(issues({ headers: { x: "a\r\nb: c" } })).toContain("no header may have");
    expect(issues({ apiKey: "k", headers: { Authorization: "Basic x" } })).toContain("give one of them");
    expect(issues({ apiKey: "a\nb" })).not.toContain("a\\nb");
    expect(issues({ baseURL: "x" })).toContain("baseURL");
  });
});
