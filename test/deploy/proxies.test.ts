// Real nginx and Caddy with the shipped configurations, TLS and HTTP/2, in front of a real router: what waits, streams and
// redirects comes through, at the root and below a path; the operators' routes do not.

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { connect as connectHttp2 } from "node:http2";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Agent, fetch as fetchVia } from "undici";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { haveProgram } from "../docker/debian.ts";
import { builtCli } from "../e2e/built.ts";
import { eventually, type RouterProcess, serve, tempFolder } from "../e2e/process.ts";

const projectRoot = fileURLToPath(new URL("../../", import.meta.url));
const shipped = (name: string): string => readFileSync(join(projectRoot, "deploy", name), "utf8");

/** The router as it is shipped, page included. */
function withDashboard(): string {
  const dist = join(folder, "package", "dist");
  const built = dirname(builtCli());
  cpSync(built, dist, { recursive: true });
  for (const name of ["package.json", "migrations", "node_modules"]) {
    symlinkSync(join(projectRoot, name), join(folder, "package", name));
  }
  const vite = join(projectRoot, "node_modules/vite/bin/vite.js");
  const args = [
    "build",
    "--config",
    join(projectRoot, "dashboard/vite.config.ts"),
    "--outDir",
    join(dist, "dashboard"),
  ];
  execFileSync(process.execPath, [vite, ...args, "--logLevel", "warn"], { cwd: projectRoot });
  return join(dist, "cli.js");
}

const folder = mkdtempSync(join(tmpdir(), "sir-proxies-"));
const proxies: ChildProcess[] = [];
const agents: Agent[] = [];
let router: RouterProcess;

beforeAll(async () => {
  execFileSync(
    "openssl",
    [
      ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"],
      ...["-subj", "/CN=sir.example.com", "-addext", "subjectAltName=DNS:sir.example.com,DNS:tools.example.com"],
      ...["-keyout", join(folder, "key.pem"), "-out", join(folder, "cert.pem")],
    ],
    { stdio: "ignore" },
  );
  vi.stubEnv("SIR_TEST_CLI", withDashboard());
  const slow = { driver: "mock", loadSeconds: 0.2, firstTokenSeconds: 0.2, tokensPerSecond: 8, defaultMaxTokens: 24 };
  const models = { slow: { loadSeconds: 1, backend: slow } };
  router = await serve({ folder: tempFolder(), config: { sync: { holdSeconds: 1 }, models } });
}, 120_000);

afterAll(async () => {
  vi.unstubAllEnvs();
  for (const agent of agents) await agent.destroy();
  for (const child of proxies) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

function start(program: string, args: readonly string[]): void {
  const child = spawn(program, args, { stdio: ["ignore", "ignore", "pipe"], env: { ...process.env, HOME: folder } });
  child.stderr?.resume();
  proxies.push(child);
}

async function startNginx(): Promise<number> {
  haveProgram("nginx");
  const port = await freePort();
  const site = shipped("nginx.conf")
    .replaceAll("listen 443", `listen 127.0.0.1:${port}`)
    .replaceAll(/ssl_certificate [^;]+/g, `ssl_certificate ${folder}/cert.pem`)
    .replaceAll(/ssl_certificate_key [^;]+/g, `ssl_certificate_key ${folder}/key.pem`)
    .replace("127.0.0.1:8000", new URL(router.origin).host);
  const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  const around = ["daemon off;", `pid ${folder}/nginx.pid;`, `error_log ${folder}/nginx.log;`, "events {}"];
  writeFileSync(join(folder, "nginx.conf"), [...around, "http {", "access_log off;", ...paths, site, "}"].join("\n"));
  start("nginx", ["-c", join(folder, "nginx.conf"), "-p", folder]);
  return port;
}

async function startCaddy(): Promise<number> {
  haveProgram("caddy");
  const port = await freePort();
  const tls = `\n\ttls ${folder}/cert.pem ${folder}/key.pem`;
  const site = shipped("Caddyfile")
    .replaceAll("127.0.0.1:8000", new URL(router.origin).host)
    .replaceAll(/^(sir|tools)\.example\.com \{/gm, `$1.example.com:${port} {${tls}`);
  const options = "{\n\tadmin off\n\tauto_https disable_redirects\n\tstorage file_system {\n\t\troot STORE\n\t}\n}\n";
  writeFileSync(join(folder, "Caddyfile"), options.replace("STORE", join(folder, "caddy")) + site);
  start("caddy", ["run", "--config", join(folder, "Caddyfile"), "--adapter", "caddyfile"]);
  return port;
}

const body = (over: object = {}): string =>
  JSON.stringify({ model: "slow", messages: [{ role: "user", content: "hello" }], ...over });

/** Names that lead here, over TLS that only this test believes. */
function callerOf(port: number) {
  const agent = new Agent({
    connect: {
      rejectUnauthorized: false,
      lookup: (_name, _options, done) => done(null, [{ address: "127.0.0.1", family: 4 }]),
    },
  });
  agents.push(agent);
  return (host: string, path: string, init: Parameters<typeof fetchVia>[1] = {}) =>
    fetchVia(`https://${host}.example.com:${port}${path}`, { dispatcher: agent, ...init });
}

const post = (over: object = {}, headers: Record<string, string> = {}) => ({
  method: "POST",
  headers: { "content-type": "application/json", ...headers },
  body: body(over),
});

describe.each([
  ["nginx", startNginx],
  ["Caddy", startCaddy],
])("%s", (_name, startProxy) => {
  let port = 0;
  let call: ReturnType<typeof callerOf>;

  beforeAll(async () => {
    port = await startProxy();
    call = callerOf(port);
    await eventually(async () => expect((await call("sir", "/healthz")).status).toBe(200), 60_000);
  }, 120_000);

  it.each([
    ["sir", ""],
    ["tools", "/sir"],
  ])("lets a request wait and be led on until its answer is there (%s%s)", async (host, path) => {
    const answer = await call(host, `${path}/v1/chat/completions`, post());

    expect([answer.status, answer.redirected]).toEqual([200, true]);
    expect(await answer.text()).toContain('"choices"');
    expect(answer.url).toContain(`${path}/v1/jobs/`);
  });

  it("lets a long poll wait", async () => {
    const receipt = await call("sir", "/v1/chat/completions", post({}, { prefer: "respond-async" }));
    expect(receipt.status).toBe(202);
    const { id } = (await receipt.json()) as { id: string };

    const polled = await call("sir", `/v1/jobs/${id}?wait=30`);

    expect(await polled.json()).toMatchObject({ id, status: "completed" });
  });

  it.each([
    ["sir", ""],
    ["tools", "/sir"],
  ])("passes tokens on as they come (%s%s)", async (host, path) => {
    const answer = await call(host, `${path}/v1/chat/completions`, post({ stream: true }));

    const pieces: string[] = [];
    for await (const piece of answer.body ?? []) pieces.push(Buffer.from(piece).toString());
    // Held back, they would come in one or two.
    expect(pieces.length).toBeGreaterThan(10);
    expect(pieces.join("")).toContain("data: [DONE]");
  });

  it("passes the stream of the dashboard on while it stays open, and the page below any path", async () => {
    const leave = new AbortController();
    const stream = await call("tools", "/sir/v1/stream", { signal: leave.signal });
    const reader = stream.body?.getReader();
    const first = await reader?.read();
    expect(Buffer.from((first?.value as Uint8Array | undefined) ?? []).toString()).toMatch(/snapshot|:/);
    leave.abort();

    for (const [host, path] of [
      ["sir", ""],
      ["tools", "/sir"],
    ] as const) {
      const page = await call(host, `${path}/dashboard/`);
      expect(page.status).toBe(200);
      const [, script = "/none"] = /<script[^>]+src="([^"]+)"/.exec(await page.text()) ?? [];
      const address = new URL(script, page.url);
      expect((await call(host, address.pathname)).status).toBe(200);
    }
  });

  it("speaks HTTP/2, streams included", async () => {
    const session = connectHttp2(`https://127.0.0.1:${port}`, {
      rejectUnauthorized: false,
      servername: "sir.example.com",
    });
    const stream = session.request({
      ...{ ":method": "POST", ":path": "/v1/chat/completions", ":authority": `sir.example.com:${port}` },
      "content-type": "application/json",
    });
    let pieces = 0;
    let text = "";
    const done = new Promise<void>((resolve, reject) => {
      stream.on("data", (piece: Buffer) => {
        pieces++;
        text += piece.toString();
      });
      stream.once("end", resolve).once("error", reject);
    });
    stream.end(body({ stream: true }));
    await done;
    session.close();

    expect(pieces).toBeGreaterThan(10);
    expect(text).toContain("data: [DONE]");
  });

  it("does not pass for the machine itself: operators' routes stay shut", async () => {
    const direct = await fetch(`${router.origin}/admin/pause`, { method: "POST" });
    expect(direct.status).toBe(200);
    await fetch(`${router.origin}/admin/resume`, { method: "POST" });

    for (const [host, path] of [
      ["sir", "/admin/pause"],
      ["tools", "/sir/admin/pause"],
    ] as const) {
      expect((await call(host, path, { method: "POST" })).status).toBe(403);
    }
  });

  it("takes a file for a batch that is larger than a proxy would by default", async () => {
    const line = `${JSON.stringify({ custom_id: "a", method: "POST", url: "/v1/chat/completions", body: { model: "slow" } })}\n`;
    const form = new FormData();
    form.set("purpose", "batch");
    form.set("file", new Blob([line, " ".repeat(8 * 1024 * 1024), "\n"]), "requests.jsonl");

    const encoded = new Response(form);
    const headers = { "content-type": encoded.headers.get("content-type") ?? "" };
    const answer = await call("sir", "/v1/files", {
      method: "POST",
      headers,
      body: Buffer.from(await encoded.arrayBuffer()),
    });

    expect([answer.status, ((await answer.json()) as { object?: string }).object]).toEqual([200, "file"]);
  });
});
