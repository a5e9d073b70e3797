// What every driver must do, whatever is behind it. A driver's test calls this with a way to make a backend and a
// request that its engine takes some time to answer.

import { describe, expect, it } from "vitest";
import type { Backend, Call, Instance, Placement } from "../../src/backends/backend.ts";
import { Taken } from "./samples.ts";

export interface Specimen {
  readonly backend: Backend;
  readonly placement: Placement;
  /** A request that succeeds. */
  call(): Call;
  /** The same, as a stream. */
  streamed(): Call;
  /** A request that the engine refuses with a 4xx. */
  refused(): Call;
  /** Lets time pass until the promise has settled. */
  passing<T>(promise: Promise<T>): Promise<T>;
  /** Lets the engine work on what it was sent, without finishing it. */
  midway(): Promise<void>;
}

const never = (): AbortSignal => new AbortController().signal;

async function resident({ backend, placement, passing }: Specimen): Promise<Instance> {
  if (!backend.can.loads) return { ...placement, device: null, endpoint: "", epoch: 1 };
  const { endpoint } = await passing(backend.start(placement, () => {}, never()));
  return { ...placement, endpoint, epoch: 1 };
}

export function exerciseBackend(create: () => Promise<Specimen>): void {
  describe("as every backend", () => {
    it("answers a request: one head, then all bytes", async () => {
      const specimen = await create();
      const sink = new Taken();

      const run = specimen.backend.run(await resident(specimen), specimen.call(), sink, never());

      expect(await specimen.passing(run)).toEqual({ kind: "succeeded" });
      expect(sink.heads.map((head) => head.status)).toEqual([200]);
      expect(sink.bytes.byteLength).toBeGreaterThan(0);
    });

    it("answers a stream to its terminator", async () => {
      const specimen = await create();
      const sink = new Taken();

      const run = specimen.backend.run(await resident(specimen), specimen.streamed(), sink, never());

      expect(await specimen.passing(run)).toEqual({ kind: "succeeded" });
      expect(sink.heads[0]?.headers["content-type"]).toMatch(/^text\/event-stream/);
      expect(sink.text.trimEnd()).toMatch(/data: \[DONE\]$/);
    });

    it("hands a refusal to the caller with its body", async () => {
      const specimen = await create();
      const sink = new Taken();

      const run = specimen.backend.run(await resident(specimen), specimen.refused(), sink, never());

      expect(await specimen.passing(run)).toEqual({ kind: "refused" });
      expect(sink.heads[0]?.status).toBe(400);
      expect(sink.json).toMatchObject({ error: { message: expect.any(String) } });
    });

    it("ends by its signal, and gives the sink nothing after that", async () => {
      const specimen = await create();
      const instance = await resident(specimen);
      const stop = new AbortController();
      const sink = new Taken();
      const run = specimen.backend.run(instance, specimen.streamed(), sink, stop.signal);
      await specimen.midway();

      stop.abort();
      const given = sink.chunks.length;

      expect(await run).toEqual({ kind: "aborted" });
      expect(sink.chunks.length).toBe(given);
      const next = specimen.backend.run(instance, specimen.call(), new Taken(), never());
      expect(await specimen.passing(next)).toEqual({ kind: "succeeded" });
    });

    it("is alive while it can serve", async () => {
      const specimen = await create();

      const alive = specimen.backend.alive(await resident(specimen), never());

      expect(await specimen.passing(alive)).toBe(true);
    });

    it("loads, says so, unloads, and is gone", async () => {
      const specimen = await create();
      const { backend, passing } = specimen;
      if (!backend.can.loads) {
        await expect(backend.start(specimen.placement, () => {}, never())).rejects.toThrow("always on");
        return;
      }
      const instance = await resident(specimen);
      const during = await backend.inspect();

      const stopped = await passing(backend.stop(instance, 10_000, never()));

      expect(during.map((each) => each.instance)).toEqual([instance.instance]);
      expect(["free", "unknown"]).toContain(stopped.memory);
      expect(await backend.inspect()).toEqual([]);
      expect(await passing(backend.alive(instance, never()))).toBe(false);
      const late = passing(backend.run(instance, specimen.call(), new Taken(), never()));
      expect((await late).kind).toBe("lost");
      expect(await passing(backend.stop(instance, 10_000, never()))).toMatchObject({ memory: stopped.memory });
    });

    it("leaves nothing behind when a load is given up", async () => {
      const specimen = await create();
      const { backend, passing } = specimen;
      if (!backend.can.loads) return;
      const stop = new AbortController();
      const load = backend.start(specimen.placement, () => {}, stop.signal);
      const settled = expect(passing(load)).rejects.toThrow("given up");

      stop.abort();

      await settled;
      expect(await backend.inspect()).toEqual([]);
      expect((await resident(specimen)).model).toBe(specimen.placement.model);
    });
  });
}
