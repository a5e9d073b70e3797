// An image that is missing: pulled with progress, or a clear word why not.

import { z } from "zod";
import { type Clock, sleepUntil } from "../../domain/clock.ts";
import { LoadError, type LoadProgress } from "../backend.ts";
import { hasImage } from "./docker-engine.ts";
import type { DockerHttp } from "./docker-http.ts";

/** A pull that says nothing for so long is taken for stuck. */
const SILENCE_MS = 120_000;
const HEAD_MS = 60_000;
const LINE_BYTES = 1024 * 1024;

const eventShape = z.looseObject({
  id: z.string().optional(),
  status: z.string().optional(),
  error: z.string().optional(),
  progressDetail: z.looseObject({ current: z.number().optional(), total: z.number().optional() }).optional(),
});

export interface Pull {
  readonly image: string;
  readonly policy: "missing" | "never" | "always";
  readonly report: (progress: LoadProgress) => void;
  readonly signal: AbortSignal;
}

/** @returns Whether it was pulled. @throws {LoadError} */
export async function ensureImage(docker: DockerHttp, clock: Clock, pull: Pull): Promise<boolean> {
  const { image, policy, report } = pull;
  if (policy !== "always" && (await hasImage(docker, image))) return false;
  if (policy === "never") {
    throw new LoadError(
      `the image ${image} is not on the Docker engine at ${docker.address.host}, and pullPolicy is never: pull or build it there`,
    );
  }
  report({ phase: "pulling", progress: null });
  await pullImage(docker, clock, pull);
  if (!(await hasImage(docker, image))) throw new LoadError(`the image ${image} was pulled, but is not there`);
  return true;
}

async function pullImage(docker: DockerHttp, clock: Clock, { image, report, signal }: Pull): Promise<void> {
  const stop = new AbortController();
  const end = (): void => stop.abort();
  if (signal.aborted) end();
  signal.addEventListener("abort", end, { once: true });
  const layers = new Layers();
  const said: { atMs: number; error: string | null; shown: number } = { atMs: clock.nowMs(), error: null, shown: -1 };
  let stuck = false;
  const watch = (async () => {
    while (!stop.signal.aborted) {
      await sleepUntil(clock, said.atMs + SILENCE_MS, stop.signal);
      if (stop.signal.aborted || clock.nowMs() < said.atMs + SILENCE_MS) continue;
      stuck = true;
      stop.abort();
    }
  })();
  try {
    const query = { fromImage: image, ...(/[:@][^/]*$/.test(image) ? {} : { tag: "latest" }) };
    const body = await docker.stream({
      method: "POST",
      path: "/images/create",
      query,
      limitMs: HEAD_MS,
      signal: stop.signal,
    });
    for await (const line of jsonLines(body as AsyncIterable<Uint8Array>)) {
      said.atMs = clock.nowMs();
      const event = eventShape.safeParse(line);
      if (!event.success) continue;
      if (event.data.error !== undefined) said.error = event.data.error;
      const percent = layers.heard(event.data);
      if (percent === null || percent === said.shown) continue;
      said.shown = percent;
      report({ phase: "pulling", progress: percent / 100 });
    }
  } catch (error) {
    if (signal.aborted) throw new LoadError("the load was given up", [], error);
    if (stuck) throw new LoadError(`pulling ${image} made no progress for ${SILENCE_MS / 1000} s`, [], error);
    throw new LoadError(
      `pulling ${image} failed: ${error instanceof Error ? error.message : "the connection broke"}`,
      [],
      error,
    );
  } finally {
    signal.removeEventListener("abort", end);
    stop.abort();
    await watch;
  }
  if (said.error !== null) throw new LoadError(`pulling ${image} failed: ${said.error.slice(0, 500)}`);
}

/** How far a pull is, over all layers heard of: downloads only, since they take the time. */
class Layers {
  readonly #bytes = new Map<string, { current: number; total: number }>();

  /** Whole percent, or null while no size is known. */
  heard({ id, status, progressDetail }: z.output<typeof eventShape>): number | null {
    if (id === undefined) return null;
    const known = this.#bytes.get(id);
    if (status === "Downloading" && progressDetail?.total !== undefined) {
      this.#bytes.set(id, { current: progressDetail.current ?? 0, total: progressDetail.total });
    } else if (known !== undefined && (status === "Download complete" || status === "Pull complete")) {
      known.current = known.total;
    }
    let current = 0;
    let total = 0;
    for (const layer of this.#bytes.values()) {
      current += layer.current;
      total += layer.total;
    }
    return total === 0 ? null : Math.min(100, Math.floor((100 * current) / total));
  }
}

/** One JSON value a line; what does not parse is left out. */
export async function* jsonLines(body: AsyncIterable<Uint8Array>): AsyncGenerator<unknown> {
  let held = "";
  const decoder = new TextDecoder();
  for await (const chunk of body) {
    held += decoder.decode(chunk, { stream: true });
    const lines = held.split("\n");
    held = lines.pop() ?? "";
    if (held.length > LINE_BYTES) held = "";
    for (const line of lines) {
      try {
        if (line.trim() !== "") yield JSON.parse(line);
      } catch {
        // A line cut by the bound above.
      }
    }
  }
}
