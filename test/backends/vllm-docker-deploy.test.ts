import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import type { VllmDockerOptions } from "../../src/backends/vllm-docker/options.ts";
import { loadConfig } from "../../src/config/load.ts";

const root = new URL("../../", import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), "utf8");
const load = () =>
  loadConfig({
    cwd: fileURLToPath(root),
    environment: {},
    flags: { config: fileURLToPath(new URL("deploy/sir.config.ts", root)) },
  });

describe("the configuration for Compose", () => {
  it("is taken without a warning, and shares one driver between its models", async () => {
    const config = await load();

    expect(config.warnings.filter((warning) => !warning.includes("0.0.0.0"))).toEqual([]);
    expect(config.backends.map(({ driver, members }) => [driver.name, members.length])).toEqual([["vllm-docker", 2]]);
  });

  it("names containers, network and models as the compose file and the proxy do", async () => {
    const compose = read("docker-compose.yml");
    const proxy = read("deploy/docker-proxy.cfg");
    const config = await load();

    for (const { spec, options } of config.backends.flatMap(({ members }) => members)) {
      const { containerName = "", network, dockerHost } = options as VllmDockerOptions;
      const entry = compose
        .split(/^ {2}(?=[a-z-]+:\n)/m)
        .find((text) => text.includes(`container_name: ${containerName}\n`));
      expect(entry).toContain(`--model=${spec.name}\n`);
      for (const name of [spec.name, ...spec.aliases]) expect(entry).toContain(`- ${name}\n`);
      expect(compose).toContain(`name: ${network}\n`);
      expect(compose).toContain(`${new URL((dockerHost ?? "").replace("tcp:", "http:")).hostname}:\n`);
      expect(proxy.split(containerName)).toHaveLength(3);
    }
  });
});
