// Where a Docker engine answers: `DOCKER_HOST` as Docker's own client reads it, with its TLS files.

import { readFileSync } from "node:fs";
import { join } from "node:path";

const DEFAULT_HOST = "unix:///var/run/docker.sock";

export interface DockerAddress {
  /** For people and for telling engines apart. */
  readonly host: string;
  readonly origin: string;
  /** Null: over TCP. */
  readonly socketPath: string | null;
  /** Host name of the machine, as far as the address tells; published ports are reached there. */
  readonly machine: string;
  /** Folder with ca.pem, cert.pem and key.pem; null: no TLS. */
  readonly tlsCertPath: string | null;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** What is wrong with a host, in words; null when it is good. */
export function dockerHostFault(host: string): string | null {
  if (host.startsWith("unix://")) {
    return host.startsWith("unix:///") ? null : "must name a socket by its absolute path: unix:///var/run/docker.sock";
  }
  if (/^(ssh|npipe|fd):/.test(host)) {
    return `${host.split(":")[0]}:// is not supported; forward the engine's socket and give unix:///path or tcp://host:port`;
  }
  if (!/^(tcp|https?):\/\//.test(host)) return "must be unix:///path or tcp://host:port";
  return URL.canParse(host.replace(/^tcp:/, "http:")) ? null : "must be tcp://host:port";
}

/** @throws Error in words, when the environment's DOCKER_HOST cannot be used */
export function dockerAddress(
  given: { readonly dockerHost?: string | undefined; readonly tlsCertPath?: string | undefined },
  environment: Environment,
): DockerAddress {
  const host = given.dockerHost ?? (environment["DOCKER_HOST"] || DEFAULT_HOST);
  const fault = dockerHostFault(host);
  if (fault !== null) throw new Error(`DOCKER_HOST ${fault}`);
  if (host.startsWith("unix://")) {
    return {
      host,
      origin: "http://docker",
      socketPath: host.slice("unix://".length),
      machine: "127.0.0.1",
      tlsCertPath: null,
    };
  }
  // The environment's TLS belongs to the environment's host.
  const ambient =
    given.dockerHost === undefined && environment["DOCKER_TLS_VERIFY"] ? environment["DOCKER_CERT_PATH"] : undefined;
  const tlsCertPath = given.tlsCertPath ?? (ambient || null);
  const secure = tlsCertPath !== null || host.startsWith("https:");
  const url = new URL(host.replace(/^(tcp|https?):/, secure ? "https:" : "http:"));
  if (url.port === "" && !/:\d+\/?$/.test(host)) url.port = secure ? "2376" : "2375";
  return { host, origin: url.origin, socketPath: null, machine: url.hostname, tlsCertPath };
}

/** The files of a TLS folder, for a connection. @throws Error that names the file */
export function tlsFiles(folder: string): { ca: Buffer; cert: Buffer; key: Buffer } {
  const read = (name: string): Buffer => {
    const path = join(folder, name);
    try {
      return readFileSync(path);
    } catch (error) {
      throw new Error(`${path} for TLS with the Docker engine cannot be read`, { cause: error });
    }
  };
  return { ca: read("ca.pem"), cert: read("cert.pem"), key: read("key.pem") };
}
