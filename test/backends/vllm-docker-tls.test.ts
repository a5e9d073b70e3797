import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { expect, it, onTestFinished } from "vitest";
import { dockerAddress } from "../../src/backends/vllm-docker/docker-address.ts";
import { inspectContainer } from "../../src/backends/vllm-docker/docker-engine.ts";
import { DockerHttp } from "../../src/backends/vllm-docker/docker-http.ts";
import { SystemClock } from "../../src/system/clock.ts";

/** A folder as DOCKER_CERT_PATH names one; the server of the test uses the same certificate. */
function certificates(): string {
  const folder = mkdtempSync(join(tmpdir(), "sir-tls-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const words = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost";
  const names = [
    "-addext",
    "subjectAltName=DNS:localhost",
    "-keyout",
    join(folder, "key.pem"),
    "-out",
    join(folder, "cert.pem"),
  ];
  execFileSync("openssl", [...words.split(" "), ...names], { stdio: "ignore" });
  execFileSync("cp", [join(folder, "cert.pem"), join(folder, "ca.pem")]);
  return folder;
}

/** Asks for a client's certificate, as a Docker engine behind --tlsverify does. */
async function engineWithTls(folder: string): Promise<number> {
  const read = (name: string): Buffer => readFileSync(join(folder, name));
  const [key, cert, ca] = [read("key.pem"), read("cert.pem"), read("ca.pem")];
  const server = createServer({ key, cert, ca, requestCert: true, rejectUnauthorized: true }, (request, response) => {
    const known = (request.socket as TLSSocket).authorized;
    response.writeHead(known && request.url === "/_ping" ? 200 : 404, { "api-version": "1.41" }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, () => resolve()));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

function clientAt(port: number, tlsCertPath?: string): DockerHttp {
  const given = { dockerHost: `${tlsCertPath === undefined ? "https" : "tcp"}://localhost:${port}`, tlsCertPath };
  const docker = new DockerHttp(dockerAddress(given, {}), new SystemClock());
  onTestFinished(() => docker.close());
  return docker;
}

it("shows its certificate to a Docker engine that asks for one, and trusts the folder's authority", async () => {
  const folder = certificates();
  const port = await engineWithTls(folder);

  expect(await inspectContainer(clientAt(port, folder), "nobody")).toBeNull();
  await expect(inspectContainer(clientAt(port), "nobody")).rejects.toThrow(
    /cannot be reached \(DEPTH_ZERO_SELF_SIGNED_CERT\)/,
  );
});

it("names the file that is missing", async () => {
  await expect(inspectContainer(clientAt(1, "/nowhere"), "nobody")).rejects.toThrow("/nowhere/ca.pem");
});
