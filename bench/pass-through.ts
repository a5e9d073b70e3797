// What the router costs a synchronous caller: the same request to an engine that answers at once, directly and through
// the router, one after the other in turns, so that whatever else the machine does hits both alike.

import { join } from "node:path";
import { type RouterChild, startRouterChild, startScript } from "./children.ts";
import type { Bench, Figure, Stage } from "./figure.ts";
import { type Ask, type Client, closedLoop, createClient } from "./load.ts";
import { median, spreadOf } from "./statistics.ts";

const PAIRS = 2_000;
const WARM_UP = 500;
const IN_FLIGHT = 16;
const ROUNDS = 3;
const SLICE_MS = 1_200;

interface Sides {
  readonly direct: Client;
  readonly through: Client;
  readonly router: RouterChild;
}

export const passThroughBench: Bench = {
  name: "pass-through",
  title: `A synchronous call through the router against the same call to the engine itself, ${PAIRS} pairs`,
  async run(stage) {
    const engine = await startScript("./engine-process.ts");
    const origin = `http://127.0.0.1:${(engine.first as { port: number }).port}`;
    const backend = { driver: "remote", baseUrl: `${origin}/v1` };
    const config = { models: { m: { concurrency: 64, backend } } };
    const router = await startRouterChild(join(stage.folder, "router"), config);
    const sides = { direct: createClient(origin, IN_FLIGHT), through: createClient(router.origin, IN_FLIGHT), router };
    try {
      return [
        ...(await plainCalls(sides, stage)),
        ...(await streamedCalls(sides, stage)),
        ...(await manyAtOnce(sides, stage)),
      ];
    } finally {
      await sides.direct.close();
      await sides.through.close();
      await router.kill();
      await engine.kill();
    }
  },
};

function askFor(streamed: boolean): Ask {
  const body = JSON.stringify({
    model: "m",
    stream: streamed,
    messages: [{ role: "user", content: "Is this overhead? ".repeat(50) }],
  });
  const headers = { "content-type": "application/json" };
  return { method: "POST", path: "/v1/chat/completions", headers, body: Buffer.from(body) };
}

interface Timing {
  readonly firstByteMs: number;
  readonly endMs: number;
}
interface Pair {
  readonly direct: Timing;
  readonly through: Timing;
}

async function pairs({ direct, through }: Sides, ask: Ask, count: number): Promise<Pair[]> {
  const taken: Pair[] = [];
  for (let n = 0; n < count; n++) {
    if (n % 2 === 0) {
      const first = await direct.timed(ask);
      taken.push({ direct: first, through: await through.timed(ask) });
    } else {
      const first = await through.timed(ask);
      taken.push({ through: first, direct: await direct.timed(ask) });
    }
  }
  return taken;
}

async function plainCalls(sides: Sides, { progress }: Stage): Promise<Figure[]> {
  progress("plain calls");
  await pairs(sides, askFor(false), WARM_UP);
  const taken = await pairs(sides, askFor(false), PAIRS);
  return compare("plain answer", taken, ({ endMs }) => endMs);
}

async function streamedCalls(sides: Sides, { progress }: Stage): Promise<Figure[]> {
  progress("streamed calls");
  await pairs(sides, askFor(true), WARM_UP);
  const taken = await pairs(sides, askFor(true), PAIRS);
  return [
    ...compare("stream, first byte", taken, ({ firstByteMs }) => firstByteMs),
    ...compare("stream, last byte", taken, ({ endMs }) => endMs),
  ];
}

function compare(what: string, taken: readonly Pair[], read: (timing: Timing) => number): Figure[] {
  const direct = spreadOf(taken.map((pair) => read(pair.direct)));
  const through = spreadOf(taken.map((pair) => read(pair.through)));
  const added = median(taken.map((pair) => read(pair.through) - read(pair.direct)));
  return [
    { name: `${what}: direct, p50`, value: direct.p50, unit: "ms" },
    { name: `${what}: through, p50`, value: through.p50, unit: "ms" },
    { name: `${what}: added, median of pairs`, value: added, unit: "ms" },
    {
      name: `${what}: added at p99`,
      value: through.p99 - direct.p99,
      unit: "ms",
      note: `${direct.p99.toFixed(2)} to ${through.p99.toFixed(2)} ms`,
    },
    { name: `${what}: through over direct, p50`, value: through.p50 / direct.p50, unit: "x" },
  ];
}

async function manyAtOnce({ direct, through, router }: Sides, { progress }: Stage): Promise<Figure[]> {
  progress(`${IN_FLIGHT} in flight`);
  const ask = askFor(false);
  const rounds: { direct: number; through: number; cpuMsEach: number }[] = [];
  for (let n = 0; n < ROUNDS; n++) {
    const directly = await closedLoop(IN_FLIGHT, SLICE_MS, () => direct.send(ask));
    const cpuFromMs = router.cpuMs();
    let sent = 0;
    const routed = await closedLoop(IN_FLIGHT, SLICE_MS, () => through.send(ask).finally(() => sent++));
    rounds.push({ direct: directly, through: routed, cpuMsEach: (router.cpuMs() - cpuFromMs) / sent });
  }
  const name = `${IN_FLIGHT} in flight`;
  return [
    { name: `${name}: direct`, value: median(rounds.map((round) => round.direct)), unit: "/s" },
    { name: `${name}: through`, value: median(rounds.map((round) => round.through)), unit: "/s" },
    {
      name: "CPU of the router for each call",
      value: median(rounds.map(({ cpuMsEach }) => cpuMsEach)) * 1_000,
      unit: "us",
    },
  ];
}
