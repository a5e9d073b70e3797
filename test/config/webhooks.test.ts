import { describe, expect, it } from "vitest";
import { configJsonSchema } from "../../src/config/json-schema.ts";
import { resolveConfig } from "../../src/config/load.ts";
import { ConfigError } from "../../src/config/problem.ts";

const SECRET = `whsec_${Buffer.alloc(24, 7).toString("base64")}`;
const HOOK = { url: "https://hooks.example.com/in?key=k", secret: SECRET, events: ["batch.*"] };

function resolved(webhooks: unknown) {
  const document = { store: { url: "sqlite::memory:" }, models: { m: { backend: { driver: "mock" } } }, webhooks };
  return resolveConfig(document, { file: "/sir.config.json", baseDir: "/", cwd: "/", overrides: [] });
}

function problemsOf(webhooks: unknown): string[] {
  try {
    resolved(webhooks);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map(({ path, text, mend }) => `${path} ${text} ${mend}`);
    throw error;
  }
  return [];
}

describe("webhooks in the configuration", () => {
  it("keep their secret out of every value that is shown", () => {
    const config = resolved([HOOK, { ...HOOK, url: "https://b.example.com/", secret: [SECRET, SECRET] }]);

    expect(JSON.stringify(config.values)).not.toContain("whsec_");
    expect(config.values).toContainEqual(expect.objectContaining({ path: "webhooks[0].secret", value: "(set)" }));
    expect(config.values).toContainEqual(expect.objectContaining({ path: "webhooks[1].secret", value: "(set)" }));
    expect(config.webhooks[0]).toMatchObject({ label: "hooks.example.com", secrets: [SECRET], allowPrivate: false });
  });

  it("have an id that is the same each time and gives nothing of the address away", () => {
    const [one, again] = [resolved([HOOK]).webhooks[0]?.id, resolved([HOOK]).webhooks[0]?.id];

    expect(one).toMatch(/^hook_[0-9a-f]{16}$/);
    expect(again).toBe(one);
  });

  it.each([
    ["a secret that is too short", { ...HOOK, secret: "whsec_c2hvcnQ=" }, /webhooks\[0\]\.secret/],
    ["a secret without its prefix", { ...HOOK, secret: Buffer.alloc(32).toString("base64") }, /webhooks\[0\]\.secret/],
    ["an event that does not exist", { ...HOOK, events: ["batch.started"] }, /webhooks\[0\]\.events/],
    ["no events", { ...HOOK, events: [] }, /webhooks\[0\]\.events/],
    ["plain http", { ...HOOK, url: "http://hooks.example.com/" }, /webhooks\[0\]\.url .*https/],
    ["a password in the address", { ...HOOK, url: "https://a:b@hooks.example.com/" }, /webhooks\[0\]\.url/],
    ["no address", { ...HOOK, url: "hooks" }, /webhooks\[0\]\.url/],
    ["an unknown key", { ...HOOK, event: ["*"] }, /events/],
  ])("are refused with %s", (_what, hook, problem) => {
    const problems = problemsOf([hook]);

    expect(problems.join("\n")).toMatch(problem);
    expect(problems.join("\n")).not.toMatch(/whsec_[A-Za-z0-9+/]{6}/);
  });

  it("are refused twice at one address, and taken over http where private addresses are allowed", () => {
    expect(problemsOf([HOOK, HOOK]).join()).toMatch(/webhooks\[1\]\.url/);
    expect(problemsOf([{ ...HOOK, url: "http://10.0.0.1/", allowPrivate: true }])).toEqual([]);
  });

  it("are in the JSON Schema", () => {
    const schema = configJsonSchema()["properties"] as Record<string, { type: string }>;

    expect(schema["webhooks"]).toMatchObject({ type: "array", items: { required: ["url", "secret", "events"] } });
  });
});
