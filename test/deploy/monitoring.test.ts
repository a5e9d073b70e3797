// Dashboard, alerts and their files against the metrics that a router has, and against Prometheus' own tool.

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Registry } from "prom-client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Router, startRouter } from "../../src/assemble.ts";
import { resolveConfig } from "../../src/config/load.ts";
import { createLog } from "../../src/observe/log.ts";
import { createMetricSet } from "../../src/observe/metric-set.ts";
import {
  dashboard,
  dashboardQueries,
  groupingIn,
  metricsIn,
  RULE_TESTS,
  RULES,
  ruleQueries,
  rules,
} from "./queries.ts";

const folder = mkdtempSync(join(tmpdir(), "sir-deploy-"));
const havePromtool = spawnSync("promtool", ["--version"]).status === 0;
const queries = [...dashboardQueries(), ...ruleQueries()];
let router: Router;
let scrape = "";

beforeAll(async () => {
  const backend = { driver: "mock", loadSeconds: 0.05, unloadSeconds: 0.01 };
  const document = {
    server: { port: 0 },
    store: { url: `sqlite:${folder}/sir.db` },
    scheduler: { minResidencySeconds: 0 },
    devices: { gpu0: { memoryGiB: 10 } },
    models: {
      chat: { loadSeconds: 0.05, memoryGiB: 8, backend },
      code: { loadSeconds: 0.05, memoryGiB: 8, backend },
    },
  };
  const config = resolveConfig(document, { file: null, baseDir: folder, cwd: folder, overrides: [] });
  router = await startRouter(config, { log: createLog({ level: "silent" }) });
  for (const model of ["chat", "code", "chat"]) {
    const body = JSON.stringify({ model, max_tokens: 1, messages: [{ role: "user", content: "hello" }] });
    const headers = { "content-type": "application/json" };
    expect((await fetch(`${router.url}/v1/chat/completions`, { method: "POST", headers, body })).status).toBe(200);
  }
  scrape = await (await fetch(`${router.url}/metrics`)).text();
}, 60_000);

afterAll(async () => {
  await router?.close();
  rmSync(folder, { recursive: true });
});

function promtool(...words: string[]) {
  const { status, stdout, stderr } = spawnSync("promtool", words, { encoding: "utf8" });
  return { status, text: stdout + stderr };
}

/** The labels of each metric, as it is defined. */
function labelsByMetric(): Map<string, readonly string[]> {
  const registry = new Registry();
  createMetricSet(registry);
  const named = registry.getMetricsAsArray() as unknown as readonly { name: string; labelNames: readonly string[] }[];
  return new Map(named.map(({ name, labelNames }) => [name, labelNames]));
}

describe("every query of dashboard and rules", () => {
  it.each(queries)("reads what a router has: $where", ({ expression }) => {
    const defined = labelsByMetric();
    const read = metricsIn(expression);

    for (const { name, labels } of read) {
      expect(scrape).toMatch(new RegExp(`^# TYPE ${name} `, "m"));
      expect([name, labels.filter((label) => !defined.get(name)?.includes(label))]).toEqual([name, []]);
    }
    const known = new Set(read.flatMap(({ name }) => defined.get(name) ?? []));
    if (read.length > 0) expect(groupingIn(expression).filter((label) => !known.has(label))).toEqual([]);
  });

  it("finds samples of the jobs that have run", () => {
    const seen = (line: RegExp) => expect(scrape).toMatch(line);

    seen(/^sir_jobs_total\{model="chat",band="normal",outcome="completed"\} 2$/m);
    seen(/^sir_swaps_total\{model="code",device="gpu0",reason="\w+"\} 1$/m);
    seen(/^sir_job_wait_cause_seconds_total\{model="code",cause="loading"\} 0\.\d+$/m);
    seen(/^sir_model_loaded\{device="gpu0",model="chat"\} 1$/m);
    seen(/^sir_http_request_seconds_count\{route="\/v1\/chat\/completions",code="2xx"\} 3$/m);
    seen(/^sir_store_free_bytes \d{6,}$/m);
  });

  it("starts counting failures at 0, so that the first is seen as an increase", () => {
    for (const series of [
      'sir_jobs_total{model="code",band="batch",outcome="failed"} 0',
      'sir_loads_total{model="code",outcome="timeout"} 0',
      'sir_requeues_total{model="code",charge="interruption"} 0',
      'sir_key_refusals_total{reason="unknown"} 0',
    ]) {
      expect(scrape).toContain(`${series}\n`);
    }
  });

  it.skipIf(!havePromtool)("is PromQL", () => {
    const file = join(folder, "queries.yml");
    const lines = dashboardQueries().map((query, n) => ({ record: `q:${n}`, expr: query.expression }));
    writeFileSync(file, JSON.stringify({ groups: [{ name: "queries", rules: lines }] }));

    expect(promtool("check", "rules", file)).toMatchObject({ status: 0 });
  });
});

describe("the rules", () => {
  it.skipIf(!havePromtool)("are valid, fire on each fault, and are silent where all is well", () => {
    expect(promtool("check", "rules", fileURLToPath(RULES))).toMatchObject({ status: 0 });
    const { status, text } = promtool("test", "rules", fileURLToPath(RULE_TESTS));
    expect([status, status === 0 ? "" : text]).toEqual([0, ""]);
  });

  it("say of each alert what is wrong, what to do and how urgent it is, and are all tested", async () => {
    const { readFile } = await import("node:fs/promises");
    const tests = await readFile(RULE_TESTS, "utf8");
    const alerts = rules().filter(({ alert }) => alert !== undefined);

    expect(alerts.length).toBeGreaterThan(10);
    for (const { alert, labels, annotations } of alerts) {
      expect(["page", "ticket", "info"]).toContain(labels?.["severity"]);
      expect(annotations?.["summary"]?.length).toBeGreaterThan(10);
      expect([alert, annotations?.["description"]?.length ?? 0]).toEqual([alert, expect.toSatisfy((n) => n > 60)]);
      expect(tests).toContain(`{alertname="${alert}"}`);
    }
  });
});

describe("the dashboard", () => {
  it("explains each panel, and none lies on another", () => {
    const { panels } = dashboard();
    const cells = new Set<string>();
    for (const { type, title, description, gridPos } of panels) {
      if (type !== "row") expect([title, (description ?? "").length]).toEqual([title, expect.toSatisfy((n) => n > 10)]);
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
          expect([title, x < 24, cells.has(`${x} ${y}`)]).toEqual([title, true, false]);
          cells.add(`${x} ${y}`);
        }
      }
    }
  });
});

// Loud, not silent: a machine without the tool has not tested the rules.
if (!havePromtool) console.warn("test/deploy: promtool is missing (Debian: prometheus); rules were not run");
