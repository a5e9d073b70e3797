// Whether a large body holds up everybody else: the delay of the router's event loop, by its own metrics, and what a
// small request takes, while 20 MB of JSON or a form of 25 MB arrive each second, and while nothing does.

import { join } from "node:path";
import type { Delivered, Order } from "./body-sender.ts";
import { type RouterChild, type ScriptChild, startRouterChild, startScript } from "./children.ts";
import type { Bench, Figure } from "./figure.ts";
import { type Client, createClient, openLoop, pause } from "./load.ts";
import { slowConfig } from "./slow-model.ts";
import { median, type Spread, spreadOf } from "./statistics.ts";

const ROUNDS = 5;
const SECONDS = 6;
const PROBES_PER_SECOND = 50;
const SETTLE_MS = 500;
const BAR_MS = 20;

type Kind = "nothing" | Order["kind"];
const KINDS: readonly Kind[] = ["nothing", "json", "multipart"];

interface Window {
  readonly delayP50: number;
  readonly delayP99: number;
  readonly delayMax: number;
  readonly probe: Spread;
  readonly deliveredP50: number;
  /** Share of one processor, in percent. */
  readonly cpu: number;
}

export const largeBodiesBench: Bench = {
  name: "large-bodies",
  title: `Event-loop delay of the router, ${ROUNDS} rounds of ${SECONDS} s`,
  async run({ folder, progress }) {
    const router = await startRouterChild(join(folder, "router"), slowConfig());
    const sender = await startScript("./body-sender.ts");
    const client = createClient(router.origin, 16);
    const windows: Record<Kind, Window[]> = { nothing: [], json: [], multipart: [] };
    try {
      progress("warming up");
      for (const kind of KINDS) await measure({ router, sender, client }, kind, 3);
      for (let n = 0; n < ROUNDS; n++) {
        for (const kind of KINDS) {
          progress(`round ${n + 1} of ${ROUNDS}: ${kind}`);
          windows[kind].push(await measure({ router, sender, client }, kind, SECONDS));
        }
      }
      return [
        ...KINDS.flatMap((kind) => figuresOf(kind, windows[kind])),
        over("json", windows),
        over("multipart", windows),
      ];
    } finally {
      await client.close();
      await sender.kill();
      await router.kill();
    }
  },
};

interface Parts {
  readonly router: RouterChild;
  readonly sender: ScriptChild;
  readonly client: Client;
}

async function measure({ router, sender, client }: Parts, kind: Kind, seconds: number): Promise<Window> {
  await pause(SETTLE_MS);
  // Reading them begins a new window: the gauges are since the last time they were read.
  await delay(client);
  const cpuFromMs = router.cpuMs();
  const fromMs = performance.now();
  const probing = openLoop(PROBES_PER_SECOND, seconds, () => client.send({ method: "GET", path: "/healthz" }));
  const order: Order | null = kind === "nothing" ? null : { origin: router.origin, kind, seconds };
  const sending = order === null ? null : (sender.ask(order) as Promise<Delivered>);
  const [probes, delivered] = await Promise.all([probing, sending]);
  const cpu = (100 * (router.cpuMs() - cpuFromMs)) / (performance.now() - fromMs);
  const gauges = await delay(client);
  return { ...gauges, probe: spreadOf(probes.tookMs), deliveredP50: median(delivered?.tookMs ?? []), cpu };
}

async function delay(client: Client): Promise<Pick<Window, "delayP50" | "delayP99" | "delayMax">> {
  const text = (await client.send({ method: "GET", path: "/metrics" })).toString();
  const read = (quantile: string): number => {
    const [, value] =
      new RegExp(`^sir_event_loop_delay_seconds\\{quantile="${quantile}"\\} (\\S+)$`, "m").exec(text) ?? [];
    return Number(value) * 1_000;
  };
  return { delayP50: read("0.5"), delayP99: read("0.99"), delayMax: read("1") };
}

/** What the bodies add to what the machine does to an idle loop anyway: median of the rounds' differences. */
function over(kind: Order["kind"], windows: Readonly<Record<Kind, readonly Window[]>>): Figure {
  const added = windows[kind].map((window, n) => window.delayP99 - (windows.nothing[n]?.delayP99 ?? Number.NaN));
  return { name: `${WORDS[kind]}: added to the delay at p99`, value: median(added), unit: "ms" };
}

const WORDS: Readonly<Record<Kind, string>> = {
  nothing: "no bodies",
  json: "20 MB of JSON each second",
  multipart: "a form of 25 MB each second",
};

function figuresOf(kind: Kind, windows: readonly Window[]): Figure[] {
  const of = (read: (window: Window) => number): number => median(windows.map(read));
  const what = WORDS[kind];
  const bar = kind === "json" ? { bar: { rule: "below", value: BAR_MS } as const } : {};
  const figures: Figure[] = [
    { name: `${what}: event-loop delay, p50`, value: of(({ delayP50 }) => delayP50), unit: "ms" },
    { name: `${what}: event-loop delay, p99`, value: of(({ delayP99 }) => delayP99), unit: "ms", ...bar },
    {
      name: `${what}: event-loop delay, longest`,
      value: of(({ delayMax }) => delayMax),
      unit: "ms",
      note: "median of the rounds' longest",
    },
    { name: `${what}: GET /healthz, p50`, value: of(({ probe }) => probe.p50), unit: "ms" },
    { name: `${what}: GET /healthz, p99`, value: of(({ probe }) => probe.p99), unit: "ms" },
    { name: `${what}: CPU of the router`, value: of(({ cpu }) => cpu), unit: "%", note: "100 is one processor" },
  ];
  if (kind !== "nothing")
    figures.push({ name: `${what}: receipt, p50`, value: of((each) => each.deliveredP50), unit: "ms" });
  return figures;
}
