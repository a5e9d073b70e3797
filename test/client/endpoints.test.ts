// Which jobs there are, and which server has which model.

import { describe, expect, it, vi } from "vitest";
import { createClient, ModelNotRouted, SirError } from "../../src/client/index.ts";
import type { JobList } from "../../src/client/wire.ts";
import { replyWith, startEngine } from "../e2e/engine-server.ts";
import { ask } from "../e2e/wire.ts";
import { isSubmit, startProxy } from "./fault-proxy.ts";
import { listOf, useRig } from "./rig.ts";

const HI = { model: "m", messages: [{ role: "user", content: "hi" }] };

const rig = useRig();
const client = () => createClient({ baseURL: `${rig.proxy.origin}/v1` });

describe("the list of jobs", () => {
  it("is read page by page to its end", async () => {
    const ids = await Promise.all(Array.from({ length: 5 }, async () => (await client().submit(HI)).id));

    const listed: string[] = [];
    for await (const { id } of client().jobs.list({ pageSize: 2, model: "m", order: "desc" })) {
      if (ids.includes(id)) listed.push(id);
      if (listed.length === 5) break;
    }

    expect(new Set(listed)).toEqual(new Set(ids));
    const pages = rig.proxy.to("/v1/jobs?", "GET");
    expect(pages.length).toBeGreaterThan(2);
    expect(pages[0]?.path).toBe("/v1/jobs?model=m&order=desc&limit=2");
  });

  it("can be asked by status", async () => {
    const { data } = (await ask(rig.router, "/v1/jobs?status=completed,failed&limit=100")).json<JobList>();

    const listed = await listOf(client().jobs.list({ status: ["completed", "failed"] }));

    expect(listed.map(({ id }) => id)).toEqual(expect.arrayContaining(data.map(({ id }) => id)));
    expect(listed.every(({ status }) => status === "completed" || status === "failed")).toBe(true);
  });
});

describe("a client with several endpoints", () => {
  it("sends each model to its own, and all others to the default", async () => {
    const other = await startProxy(rig.engine.origin);
    const both = createClient({ baseURL: `${rig.proxy.origin}/v1`, endpoints: { far: other.origin } });

    await both.run({ ...HI, model: "far" });
    await both.run(HI);

    expect(other.passed.map(({ path }) => path)).toEqual(["/v1/chat/completions"]);
    expect(rig.proxy.passed.filter(isSubmit)).toHaveLength(1);
    expect(both.job("job_1", "far").id).toBe("job_1");
    expect(() => createClient({ endpoints: { far: other.origin } }).job("job_1")).toThrow(ModelNotRouted);
  });

  it("does not send what it knows no endpoint for", async () => {
    const only = createClient({ endpoints: { m: rig.proxy.origin } });

    const call = only.run({ ...HI, model: "other" });

    await expect(call).rejects.toBeInstanceOf(ModelNotRouted);
    await expect(call).rejects.toThrow('No endpoint is known for "other". Named ones: m.');
    expect(rig.proxy.passed).toEqual([]);
  });

  it("learns from each server which models it has", async () => {
    const far = await startEngine(replyWith(200, '{"object":"list","data":[{"id":"far","object":"model"}]}'));
    const both = createClient({ endpoints: { m: rig.proxy.origin, other: far.origin } });

    expect(await both.discover()).toEqual(["far", "m"]);
    expect(both.endpoints.resolve("far")).toBe(`${far.origin}/v1`);

    far.answer = replyWith(200, '{"object":"list","data":[{"id":"m","object":"model"}]}');
    await expect(both.discover()).rejects.toMatchObject({ code: "ambiguous_model" });
    expect(both.endpoints.resolve("far")).toBe(`${far.origin}/v1`);
  });
});

describe("a client from the environment", () => {
  it("takes address, endpoints and key from it", async () => {
    vi.stubEnv("SIR_BASE_URL", `${rig.proxy.origin}/v1/`);
    vi.stubEnv("SIR_API_KEY", "sk-env");
    const named = createClient();
    await named.run(HI);
    expect(rig.proxy.passed[0]?.headers["authorization"]).toBe("Bearer sk-env");

    vi.stubEnv("SIR_URL", "http://wins:1");
    vi.stubEnv("SIR_ENDPOINTS", "a=http://one:1/v1/, b = http://two:2 ,");
    const { endpoints } = createClient();
    expect(endpoints.models()).toEqual(["a", "b"]);
    const urls = ["a", "b", "c"].map((model) => endpoints.resolve(model));
    expect(urls).toEqual(["http://one:1/v1", "http://two:2/v1", "http://wins:1/v1"]);
    vi.unstubAllEnvs();
  });

  it.each(["a", "=http://one", "a=", "a=one:1", "a=http://one,b"])("refuses SIR_ENDPOINTS %j", (text) => {
    vi.stubEnv("SIR_ENDPOINTS", text);

    expect(() => createClient()).toThrow(SirError);
    vi.unstubAllEnvs();
  });
});
