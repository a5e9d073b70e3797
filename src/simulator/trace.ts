// Our own trace file: JSON lines, the first one a header with the models, then one line a job, in order of time.
//
//   {"sirTrace":1,"name":"essay","source":"…","untilSeconds":300,"models":[{"name":"chat","loadSeconds":8,…}]}
//   {"t":3,"model":"chat","priority":0,"work":1.8,"tokens":64}
//
// `t` is seconds from the start, `work` seconds alone on the device, `tokens` what is generated (it wins over `work`).

import { z } from "zod";
import { type Arrival, aloneMs, type SimulatedModel, tokensFor, type Workload } from "./workload.ts";

const seconds = z.number().nonnegative();

const MODEL = z.strictObject({
  name: z.string().min(1),
  priority: z.number().positive().default(1),
  concurrency: z.int().positive().default(8),
  loadSeconds: seconds,
  unloadSeconds: seconds.default(0.5),
  firstTokenSeconds: seconds.default(0.2),
  tokensPerSecond: z.number().positive().default(40),
  slowdownPerJob: seconds.default(0),
});

const HEADER = z.strictObject({
  sirTrace: z.literal(1),
  name: z.string().default("trace"),
  source: z.string().default(""),
  untilSeconds: seconds.nullable().default(null),
  models: z.array(MODEL).min(1),
});

const LINE = z
  .strictObject({
    t: seconds,
    model: z.string(),
    priority: z.int().default(0),
    work: seconds.optional(),
    tokens: z.int().positive().optional(),
  })
  .refine((line) => line.work !== undefined || line.tokens !== undefined, "needs `work` (seconds) or `tokens`");

/** @throws {Error} with the line's number, when the text is not a trace. */
export function readTrace(text: string): Workload {
  const lines = text.split("\n");
  const header = parseLine(HEADER, lines[0] ?? "", 1);
  const models = header.models.map(toModel);
  const byName = new Map(models.map((model) => [model.name, model]));
  const arrivals: Arrival[] = [];
  for (let i = 1; i < lines.length; i++) {
    const line = lines[i]?.trim() ?? "";
    if (line === "") continue;
    const found = parseLine(LINE, line, i + 1);
    const model = byName.get(found.model);
    if (model === undefined) throw fault(i + 1, `names the model "${found.model}", which the header does not have`);
    const tokens = found.tokens ?? tokensFor(model, (found.work ?? 0) * 1_000);
    arrivals.push({ atMs: found.t * 1_000, model: model.name, priority: found.priority, tokens });
  }
  arrivals.sort((a, b) => a.atMs - b.atMs);
  const untilMs = header.untilSeconds === null ? null : header.untilSeconds * 1_000;
  return { name: header.name, source: header.source, models, arrivals, untilMs };
}

export function writeTrace(workload: Workload): string {
  const models = new Map(workload.models.map((model) => [model.name, model]));
  const header = {
    sirTrace: 1,
    name: workload.name,
    source: workload.source,
    untilSeconds: workload.untilMs === null ? null : workload.untilMs / 1_000,
    models: workload.models.map(fromModel),
  };
  const lines = workload.arrivals.map(({ atMs, model, priority, tokens }) => {
    const facts = models.get(model);
    const work = facts === undefined ? {} : { work: aloneMs(facts, tokens) / 1_000 };
    return JSON.stringify({ t: atMs / 1_000, model, priority, ...work, tokens });
  });
  return `${[JSON.stringify(header), ...lines].join("\n")}\n`;
}

function toModel(found: z.output<typeof MODEL>): SimulatedModel {
  const { name, priority, concurrency, tokensPerSecond, slowdownPerJob } = found;
  const loadMs = found.loadSeconds * 1_000;
  const unloadMs = found.unloadSeconds * 1_000;
  const firstTokenMs = found.firstTokenSeconds * 1_000;
  return { name, priority, concurrency, loadMs, unloadMs, firstTokenMs, tokensPerSecond, slowdownPerJob };
}

function fromModel(model: SimulatedModel): z.output<typeof MODEL> {
  const { name, priority, concurrency, tokensPerSecond, slowdownPerJob } = model;
  const loadSeconds = model.loadMs / 1_000;
  const unloadSeconds = model.unloadMs / 1_000;
  const firstTokenSeconds = model.firstTokenMs / 1_000;
  return {
    name,
    priority,
    concurrency,
    loadSeconds,
    unloadSeconds,
    firstTokenSeconds,
    tokensPerSecond,
    slowdownPerJob,
  };
}

function parseLine<Schema extends z.ZodType>(schema: Schema, line: string, number: number): z.output<Schema> {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw fault(number, "is not JSON");
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw fault(
    number,
    `is not ${number === 1 ? "a trace's header" : "a job"}: ${issue?.path.join(".")} ${issue?.message}`,
  );
}

function fault(line: number, what: string): Error {
  return new Error(`line ${line} of the trace ${what}`);
}
