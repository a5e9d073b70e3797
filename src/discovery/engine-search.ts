// Looks for engines at every address where one listens unless told otherwise. Each address is asked by all probes at
// once; what it answers decides, never the number of its port.

import { ollamaHost } from "./engines/ollama.ts";
import { modelNamed, openAiModels } from "./engines/probe.ts";
import { PROBES } from "./engines/registry.ts";
import type { FoundEngine, Stranger } from "./found.ts";
import { Site } from "./site.ts";
import type { Surroundings } from "./surroundings.ts";

/** Ports of the engines, and those to which they step aside. */
export const USUAL_PORTS: readonly number[] = [...new Set(PROBES.flatMap(({ ports }) => ports))].sort((a, b) => a - b);

/**
 * `extra` is a host, or a host with a port; a host alone is looked at on all usual ports.
 *
 * @param ports In place of the usual ones.
 */
export function addressesOf(
  surroundings: Surroundings,
  extra: readonly string[],
  ports: readonly number[] = USUAL_PORTS,
): readonly string[] {
  const hosts = extra.flatMap((each) => {
    const url = new URL(/^https?:\/\//.test(each) ? each : `http://${each}`);
    const whole = url.port !== "" || /^https?:/.test(each);
    return whole ? [url.origin] : ports.map((port) => `${url.origin}:${port}`);
  });
  const set = ollamaHost(surroundings);
  const loopback = ports.map((port) => `http://127.0.0.1:${port}`);
  // One machine has one name here: an engine that is found twice would be two.
  const named = [...(set === null ? [] : [set]), ...hosts].map((origin) =>
    origin.replace("//localhost:", "//127.0.0.1:"),
  );
  return [...new Set([...loopback, ...named])];
}

interface Answers {
  readonly engines: readonly FoundEngine[];
  readonly strangers: readonly Stranger[];
}

export async function findEngines(addresses: readonly string[], surroundings: Surroundings): Promise<Answers> {
  const all = await Promise.all(addresses.map((origin) => lookAt(new Site(origin), surroundings)));
  const engines = all.flatMap((each) => (each !== null && "kind" in each ? each : []));
  const strangers = all.flatMap((each) => (each !== null && !("kind" in each) ? each : []));
  return { engines, strangers };
}

async function lookAt(site: Site, surroundings: Surroundings): Promise<FoundEngine | Stranger | null> {
  const first = await site.get("/v1/models");
  if (first === null) return null;
  if (first.status === 0) return { origin: site.origin, status: 0 };
  const seen = await Promise.all(PROBES.map((probe) => probe.look(site, surroundings)));
  const known = seen.find((each) => each !== null);
  if (known !== undefined) return known;
  const listed = (await openAiModels(site)) ?? [];
  if (listed.length === 0) return { origin: site.origin, status: first.status };
  const models = listed.map(({ id }) => modelNamed(id));
  return { kind: "openai", origin: site.origin, version: null, models, loads: false, slots: null, notes: [] };
}
