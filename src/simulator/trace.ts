// Our own trace file: JSON lines, the first one a header with the models, then one line a job, in order of time.
//
//   {"sirTrace":1,"name":"essay","source":"…","untilSeconds":300,"models":[{"name":"chat","loadSeconds":8,…}]}
//   {"t":3,"model":"chat","priority":0,"work":1.8,"tokens":64}
//
// `t` is seconds from the start, `work` seconds alone on the device, `tokens` what is generated (it wins over `work`).
// Without `tokens` a job's work is exact; the mock driver, which makes whole tokens, rounds it.

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
  guessedWorkSeconds: seconds.default(1.8),
  memoryGiB: z.number().positive().nullable().default(null),
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
    const { t, work, priority } = found;
    const workMs = work === undefined || found.tokens !== undefined ? {} : { workMs: work * 1_000 };
    const tokens = found.tokens ?? tokensFor(model, (work ?? 0) * 1_000);
    arrivals.push({ atMs: t * 1_000, model: model.name, priority, tokens, ...workMs });
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
  const lines = workload.arrivals.map(({ atMs, model, priority, tokens, workMs }) => {
    const job = { t: atMs / 1_000, model, priority };
    if (workMs !== undefined) return JSON.stringify({ ...job, work: workMs / 1_000 });
    const facts = models.get(model);
    const work = facts === undefined ? {} : { work: aloneMs(facts, tokens) / 1_000 };
    return JSON.stringify({ ...job, ...work, tokens });
  });
  return `${[JSON.stringify(header), ...lines].join("\n")}\n`;
}

function toModel({ guessedWorkSeconds, ...found }: z.output<typeof MODEL>): SimulatedModel {
  const { loadSeconds, unloadSeconds, firstTokenSeconds, ...rest } = found;
  const loadMs = loadSeconds * 1_000;
  const unloadMs = unloadSeconds * 1_000;
  const firstTokenMs = firstTokenSeconds * 1_000;
  return { ...rest, loadMs, unloadMs, firstTokenMs, guessedWorkMs: guessedWorkSeconds * 1_000 };
}

function fromModel({ guessedWorkMs, ...model }: SimulatedModel): z.output<typeof MODEL> {
  const { loadMs, unloadMs, firstTokenMs, ...rest } = model;
  const loadSeconds = loadMs / 1_000;
  const unloadSeconds = unloadMs / 1_000;
  const firstTokenSeconds = firstTokenMs / 1_000;
  return { ...rest, loadSeconds, unloadSeconds, firstTokenSeconds, guessedWorkSeconds: guessedWorkMs / 1_000 };
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
