// The panels of Grafana's dashboard and two alerts before a real Prometheus, by hand: it scrapes the built router under
// traffic for some minutes, then every query of deploy/ is asked of it. Only what has a reason may answer with no series.
//
//   npx tsx test/real/prometheus.ts [MINUTES]       (Debian: apt-get install prometheus)

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dashboardQueries, RULES, ruleQueries } from "../deploy/queries.ts";
import { builtCli } from "../e2e/built.ts";
import { until } from "./report.ts";

const folder = mkdtempSync(join(tmpdir(), "sir-prometheus-"));
const children = new Set<ChildProcess>();

function freePort(): Promise<number> {
  const probe = createServer();
  return new Promise((resolve) => {
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });
}

function start(command: string, words: readonly string[]) {
  const child = spawn(command, words, { cwd: folder });
  children.add(child);
  child.once("exit", () => children.delete(child));
  const said = { text: "" };
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (text) => {
      said.text += text;
    });
  }
  return { child, said };
}

async function startRouter() {
  const mock = { driver: "mock", loadSeconds: 1, unloadSeconds: 0.2, tokensPerSecond: 200 };
  const document = {
    server: { port: 0 },
    store: { url: `sqlite:${folder}/sir.db` },
    scheduler: { minResidencySeconds: 2, maxWaitSeconds: 20 },
    devices: { gpu0: { memoryGiB: 10 } },
    models: {
      chat: { loadSeconds: 1, memoryGiB: 8, backend: mock },
      code: { loadSeconds: 1, memoryGiB: 8, backend: { ...mock, failRequests: 3 } },
      broken: { loadSeconds: 1, memoryGiB: 8, maxLoadFailures: 2, backend: { ...mock, failLoads: 100_000 } },
    },
  };
  writeFileSync(join(folder, "sir.config.json"), JSON.stringify(document));
  const { child, said } = start(process.execPath, [builtCli(), "serve", "--config", join(folder, "sir.config.json")]);
  const origin = await until("the router listens", 60, () => /at (http:\/\/\S+)\/v1\n/.exec(said.text)?.[1] ?? null);
  return { child, origin };
}

/** The shipped configuration and rules, but for the address. */
async function startPrometheus(target: string): Promise<string> {
  copyFileSync(RULES, join(folder, "sir-rules.yml"));
  const shipped = readFileSync(new URL("../../deploy/prometheus.yml", import.meta.url), "utf8");
  const file = join(folder, "prometheus.yml");
  writeFileSync(file, shipped.replace('"sir-router:8000"', JSON.stringify(target)));
  const port = await freePort();
  const words = [
    `--config.file=${file}`,
    `--storage.tsdb.path=${folder}/tsdb`,
    `--web.listen-address=127.0.0.1:${port}`,
  ];
  const { said } = start("prometheus", words);
  const origin = `http://127.0.0.1:${port}`;
  await until(`Prometheus is ready: ${said.text.slice(-500)}`, 60, async () => {
    const answer = await fetch(`${origin}/-/ready`).catch(() => null);
    return answer?.ok ? true : null;
  });
  return origin;
}

async function post(origin: string, body: object, headers: Record<string, string> = {}): Promise<Response> {
  const sent = { "content-type": "application/json", prefer: "respond-async", ...headers };
  return await fetch(`${origin}/v1/chat/completions`, { method: "POST", headers: sent, body: JSON.stringify(body) });
}

async function traffic(origin: string, untilMs: number): Promise<number> {
  let jobs = 0;
  while (Date.now() < untilMs) {
    const model = jobs % 25 === 24 ? "broken" : jobs % 20 < 12 ? "chat" : "code";
    const priority = ["interactive", "normal", "batch"][jobs % 3] ?? "normal";
    const messages = [{ role: "user", content: "hello" }];
    const posted = await post(origin, { model, max_tokens: 20, messages }, { "sir-priority": priority });
    const { id } = (await posted.json()) as { id?: string };
    jobs += 1;
    if (jobs % 30 === 0) await fetch(`${origin}/v1/jobs/${id}`, { method: "DELETE" });
    await new Promise((resolve) => setTimeout(resolve, 150));
  }
  return jobs;
}

interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly values?: readonly (readonly [number, string])[];
}

async function ranged(prometheus: string, expression: string, fromMs: number): Promise<readonly Series[]> {
  const query = new URLSearchParams({
    query: expression,
    start: `${fromMs / 1000}`,
    end: `${Date.now() / 1000}`,
    step: "5",
  });
  const answer = (await (await fetch(`${prometheus}/api/v1/query_range?${query}`)).json()) as {
    readonly status: string;
    readonly error?: string;
    readonly data?: { readonly result: readonly Series[] };
  };
  assert.equal(answer.status, "success", `${expression}: ${answer.error}`);
  return answer.data?.result ?? [];
}

const isNumber = ([, value]: readonly [number, string]): boolean => Number.isFinite(Number(value));

async function alert(prometheus: string, name: string): Promise<string | null> {
  const { data } = (await (await fetch(`${prometheus}/api/v1/alerts`)).json()) as {
    readonly data: { readonly alerts: readonly { labels: Record<string, string>; state: string }[] };
  };
  const found = data.alerts.filter(({ labels }) => labels["alertname"] === name);
  return found.length === 0
    ? null
    : found.map(({ labels, state }) => `${state} ${labels["model"] ?? ""}`.trim()).join();
}

async function main(minutes: number): Promise<void> {
  const router = await startRouter();
  const prometheus = await startPrometheus(new URL(router.origin).host);
  const fromMs = Date.now();
  const jobs = await traffic(router.origin, fromMs + minutes * 60_000);
  console.log(`- ${jobs} jobs in ${minutes} min`);
  for (const { where, expression } of [...dashboardQueries(), ...ruleQueries()]) {
    const series = await ranged(prometheus, expression, fromMs);
    const finite = series.filter(({ values = [] }) => values.some(isNumber)).length;
    console.log(`${finite === 0 ? "  NONE " : String(finite).padStart(6)} ${where}: ${expression.slice(0, 110)}`);
  }
  console.log(
    `- SirModelBroken: ${await until("SirModelBroken fires", 420, () => firing(prometheus, "SirModelBroken"))}`,
  );
  router.child.kill("SIGKILL");
  const began = Date.now();
  console.log(`- SirDown: ${await until("SirDown fires", 240, () => firing(prometheus, "SirDown"))}`);
  console.log(`  ${((Date.now() - began) / 1000).toFixed(0)} s after kill -9`);
}

async function firing(prometheus: string, name: string): Promise<string | null> {
  const state = await alert(prometheus, name);
  return state?.includes("firing") ? state : null;
}

process.once("exit", () => {
  for (const child of children) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});
main(Number(process.argv[2] ?? 6)).then(
  () => process.exit(0),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
