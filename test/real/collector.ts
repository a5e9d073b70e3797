// Traces through a real OpenTelemetry collector, by hand: some hundred jobs of the built router, read back from what the
// collector passes on; then the collector frozen, killed and back, with the router at work all the while.
//
//   go install go.opentelemetry.io/collector/cmd/builder@v0.165.0 && builder --config test/real/collector-builder.yaml
//   npx tsx test/real/collector.ts ./otelcol/otelcol

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { type AddressInfo, createServer as createSocketServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { builtCli } from "../e2e/built.ts";
import { type ReceivedSpan, spansIn } from "../trace/otlp.ts";
import { until } from "./report.ts";

const SECRET = "words that must not travel";
const folder = mkdtempSync(join(tmpdir(), "sir-collector-"));
const children = new Set<ChildProcess>();

/** What the collector has decoded, kept, and encoded anew. */
async function downstream(): Promise<{ url: string; spans: ReceivedSpan[]; bodies: string[] }> {
  const got = { url: "", spans: [] as ReceivedSpan[], bodies: [] as string[] };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const text = Buffer.concat(chunks).toString("utf8");
      got.bodies.push(text);
      got.spans.push(...spansIn(text));
      response.writeHead(200, { "content-type": "application/json" }).end("{}");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  got.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return got;
}

function freePort(): Promise<number> {
  const probe = createSocketServer();
  return new Promise((resolve) => {
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });
}

function start(command: string, words: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const child = spawn(command, words, { cwd: folder, env: { ...process.env, ...environment } });
  children.add(child);
  child.once("exit", () => children.delete(child));
  const said = { out: "", err: "" };
  child.stdout.on("data", (text) => {
    said.out += text;
  });
  child.stderr.on("data", (text) => {
    said.err += text;
  });
  return { child, said };
}

async function startCollector(binary: string, port: number, next: string) {
  const config = {
    receivers: { otlp: { protocols: { http: { endpoint: `127.0.0.1:${port}` } } } },
    exporters: {
      debug: { verbosity: "detailed" },
      otlp_http: { endpoint: next, encoding: "json", compression: "none" },
    },
    service: {
      pipelines: { traces: { receivers: ["otlp"], exporters: ["debug", "otlp_http"] } },
      telemetry: { metrics: { level: "none" } },
    },
  };
  const file = join(folder, "collector.json");
  writeFileSync(file, JSON.stringify(config));
  const { child, said } = start(binary, ["--config", file]);
  await until("the collector is ready", 60, () => (said.err.includes("Everything is ready") ? true : null)).catch(
    (e) => {
      throw new Error(`${e.message}: ${said.err}`);
    },
  );
  return { child, said };
}

async function startRouter(endpoint: string) {
  const mock = { driver: "mock", loadSeconds: 0.2, unloadSeconds: 0.05, tokensPerSecond: 2000 };
  const document = {
    server: { port: 0 },
    store: { url: `sqlite:${folder}/sir.db` },
    scheduler: { policy: "fifo", minResidencySeconds: 0 },
    models: {
      chat: { loadSeconds: 0.2, concurrency: 8, backend: mock },
      code: { loadSeconds: 0.2, concurrency: 8, backend: { ...mock, failRequests: 1 } },
      broken: { loadSeconds: 0.2, maxLoadFailures: 1, backend: { ...mock, failLoads: 1000 } },
    },
  };
  writeFileSync(join(folder, "sir.config.json"), JSON.stringify(document));
  const words = [builtCli(), "serve", "--config", join(folder, "sir.config.json")];
  const { child, said } = start(process.execPath, words, { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint });
  const origin = await until("the router listens", 60, () => /at (http:\/\/\S+)\/v1\n/.exec(said.out)?.[1] ?? null);
  return { child, said, origin };
}

interface Sent {
  readonly id: string;
  readonly traceId: string;
  readonly parentId: string | null;
}

const hex = (digits: number): string =>
  Array.from({ length: digits }, () => Math.floor(Math.random() * 16).toString(16)).join("");

/** Every third one under a caller's span. */
async function submit(origin: string, model: string, nth: number): Promise<Sent> {
  const under = nth % 3 === 0 ? { traceId: hex(32), parentId: hex(16) } : null;
  const headers: Record<string, string> = { "content-type": "application/json", prefer: "respond-async" };
  if (under !== null) headers["traceparent"] = `00-${under.traceId}-${under.parentId}-01`;
  const messages = [{ role: "user", content: SECRET }];
  const body = JSON.stringify({ model, max_tokens: 20, messages, metadata: { private: SECRET } });
  const posted = await fetch(`${origin}/v1/chat/completions`, { method: "POST", headers, body });
  assert.equal(posted.status, 202);
  const { id } = (await posted.json()) as { id: string };
  return { id, traceId: under?.traceId ?? id.slice(4), parentId: under?.parentId ?? null };
}

/** So many jobs over two models, or three of which one does not load; returns once all of them have ended. */
async function traffic(origin: string, jobs: number, broken = false): Promise<{ sent: Sent[]; seconds: number }> {
  const began = performance.now();
  const sent: Sent[] = [];
  for (let n = 0; n < jobs; n++) {
    const model = broken && n % 300 === 299 ? "broken" : n % 100 < 50 ? "chat" : "code";
    const job = await submit(origin, model, n);
    sent.push(job);
    if (n % 40 === 39) await fetch(`${origin}/v1/jobs/${job.id}`, { method: "DELETE" });
  }
  for (const { id } of sent) {
    await until(`job ${id} ends`, 120, async () => {
      const { status } = (await (await fetch(`${origin}/v1/jobs/${id}?wait=20`)).json()) as { status: string };
      return ["completed", "failed", "cancelled", "expired"].includes(status) ? true : null;
    });
  }
  return { sent, seconds: (performance.now() - began) / 1000 };
}

async function counted(origin: string): Promise<Record<"sent" | "failed" | "dropped", number>> {
  const text = await (await fetch(`${origin}/metrics`)).text();
  const of = (outcome: string): number =>
    Number(new RegExp(`^sir_spans_total\\{outcome="${outcome}"\\} (\\d+)`, "m").exec(text)?.[1] ?? 0);
  return { sent: of("sent"), failed: of("failed"), dropped: of("dropped") };
}

const residentMiB = (child: ChildProcess): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1]) / 1024;

const say = (text: string): void => console.log(`- ${text}`);

/** Parents, links, names and times of every trace; returns how many of each span there are. */
function checked(spans: readonly ReceivedSpan[], sent: readonly Sent[]): string {
  const byId = new Map(spans.map((span) => [`${span.traceId}:${span.spanId}`, span]));
  assert.equal(byId.size, spans.length, "no span comes twice");
  const counts: Record<string, number> = {};
  for (const { name } of spans) counts[name] = (counts[name] ?? 0) + 1;
  let links = 0;
  for (const { id, traceId, parentId } of sent) {
    const roots = spans.filter(({ name, attributes }) => name === "sir.job" && attributes["sir.job.id"] === id);
    assert.equal(roots.length, 1, `one root for ${id}`);
    const [root] = roots;
    if (root === undefined) continue;
    assert.deepEqual([root.traceId, root.parentSpanId || null], [traceId, parentId], "under the caller's span");
    const parts = spans.filter((span) => span.traceId === root.traceId && span.parentSpanId === root.spanId);
    for (const part of parts) {
      assert.ok(BigInt(part.startTimeUnixNano) >= BigInt(root.startTimeUnixNano), `${part.name} begins before ${id}`);
      assert.ok(BigInt(part.endTimeUnixNano) <= BigInt(root.endTimeUnixNano), `${part.name} ends after ${id}`);
      for (const link of part.links) {
        assert.equal(byId.get(`${link.traceId}:${link.spanId}`)?.name, "sir.load", "a link leads to a load");
        links += 1;
      }
      if (part.kind !== 3) continue;
      assert.equal(part.attributes["gen_ai.operation.name"], "chat");
      assert.equal(part.attributes["gen_ai.provider.name"], "mock");
      assert.equal(part.attributes["gen_ai.request.model"], root.attributes["sir.model"]);
    }
    if (root.attributes["sir.job.status"] !== "succeeded") continue;
    const last = parts.filter(({ kind }) => kind === 3).at(-1);
    assert.equal(typeof last?.attributes["gen_ai.usage.output_tokens"], "number");
    assert.equal(root.status.code ?? 0, 0);
  }
  const known = new Set(spans.map(({ name }) => name.replace(/^chat .*/, "chat MODEL")));
  assert.deepEqual([...known].sort(), ["chat MODEL", "sir.job", "sir.load", "sir.wait"]);
  return `${Object.entries(counts)
    .map(([name, n]) => `${n} ${name}`)
    .join(", ")}, ${links} links to loads`;
}

async function main(binary: string): Promise<void> {
  const got = await downstream();
  const port = await freePort();
  let collector = await startCollector(binary, port, got.url);
  const router = await startRouter(`http://127.0.0.1:${port}`);
  const first = await traffic(router.origin, 600, true);
  const spans = await until("every span has come", 60, async () => {
    const { sent } = await counted(router.origin);
    const roots = got.spans.filter(({ name }) => name === "sir.job").length;
    return roots === 600 && sent === got.spans.length ? sent : null;
  });
  say(
    `600 jobs in ${first.seconds.toFixed(1)} s: ${spans} spans sent, as many passed on: ${checked(got.spans, first.sent)}`,
  );
  const text = got.bodies.join() + collector.said.out + collector.said.err;
  assert.ok(!text.includes(SECRET) && !text.includes("private"));
  const detailed = collector.said.err.match(/Span #\d+/g)?.length ?? 0;
  say(`the collector's own print of them: ${detailed} spans; no word of a request, an answer or metadata in it`);
  const calm = residentMiB(router.child);

  collector.child.kill("SIGSTOP");
  const before = await counted(router.origin);
  const frozen = await traffic(router.origin, 1_500);
  await until("a send was given up", 60, async () => ((await counted(router.origin)).failed > 0 ? true : null));
  const during = await counted(router.origin);
  say(
    `collector frozen (SIGSTOP): 1500 jobs in ${frozen.seconds.toFixed(1)} s, all ended; then ${JSON.stringify(during)}, before ${JSON.stringify(before)}`,
  );
  say(`the router holds ${residentMiB(router.child).toFixed(0)} MiB, before ${calm.toFixed(0)} MiB`);

  collector.child.kill("SIGKILL");
  const gone = await traffic(router.origin, 600);
  say(`collector killed: 600 jobs in ${gone.seconds.toFixed(1)} s, all ended`);
  collector = await startCollector(binary, port, got.url);
  const back = await traffic(router.origin, 300);
  const ids = new Set(back.sent.map(({ id }) => id));
  const ofBack = () => got.spans.filter(({ attributes }) => ids.has(String(attributes["sir.job.id"]))).length;
  await until("the traces of jobs after its return", 120, () => (ofBack() === 300 ? true : null));
  say(`collector back: the 300 jobs after it are traced, all of them; ${JSON.stringify(await counted(router.origin))}`);
  const warned = router.said.err + router.said.out;
  const lines = warned.split("\n").filter((line) => line.includes("Traces could not be sent")).length;
  say(`lines in the log about it: ${lines}`);

  collector.child.kill("SIGSTOP");
  await traffic(router.origin, 60);
  const began = performance.now();
  router.child.kill("SIGTERM");
  await until("the router's end", 30, () => (router.child.exitCode === null ? null : true));
  assert.equal(router.child.exitCode, 0);
  say(`SIGTERM with a frozen collector: status 0 after ${((performance.now() - began) / 1000).toFixed(1)} s`);
}

const [binary] = process.argv.slice(2);
if (binary === undefined) throw new Error("which collector? See the first lines of this file.");
process.once("exit", () => {
  for (const child of children) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});
main(binary).then(
  () => process.exit(0),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
