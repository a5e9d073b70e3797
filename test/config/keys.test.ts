// Keys in the configuration: hashes only, each once, and a warning where a network could come in without any.

import { describe, expect, it } from "vitest";
import { problems, resolve } from "./given.ts";

const sha256 = "AB".repeat(32);

describe("keys", () => {
  it("are hashes in any case, with submit unless said otherwise", () => {
    const { keys } = resolve({ keys: { ann: { sha256 }, grafana: { sha256: "c".repeat(64), scopes: ["observe"] } } });

    expect(keys).toEqual([
      { name: "ann", sha256: "ab".repeat(32), scopes: ["submit"] },
      { name: "grafana", sha256: "c".repeat(64), scopes: ["observe"] },
    ]);
  });

  it.each([
    [{ ann: { sha256: "sir_secret" } }, "keys.ann.sha256"],
    [{ "a b": { sha256 } }, "keys"],
    [{ ann: { sha256, scopes: ["admin"] } }, "keys.ann.scopes"],
    [{ ann: { sha256, scopes: [] } }, "keys.ann.scopes"],
    [{ ann: { sha256, key: "x" } }, "keys.ann"],
    [{ ann: { sha256 }, bob: { sha256: sha256.toLowerCase() } }, "keys.bob.sha256"],
  ])("refuses %j", (keys, path) => {
    const found = problems({ keys });

    expect(found.map((each) => each.path).join()).toContain(path);
    expect(JSON.stringify(found)).not.toContain("sir_secret");
  });

  it("missing where the host is open to the network are warned of", () => {
    const server = { host: "0.0.0.0" };

    expect(resolve({ server }).warnings.join()).toContain("there are no keys");
    expect(resolve({ server, keys: { ann: { sha256 } } }).warnings).toEqual([]);
    expect(resolve().warnings).toEqual([]);
  });
});
