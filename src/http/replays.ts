// What-if over HTTP: recorded traffic once more under other settings, beside the serving router. The work itself is handed
// in, because serving knows no simulator.

import type { ReplayChoicesWire, ReplayWire, SpanRow, WaitDistributionWire } from "../client/wire-live.ts";
import { SirError } from "../domain/errors.ts";
import { requireObserver } from "./caller.ts";
import type { Call, HttpWorld } from "./deps.ts";
import { readJson } from "./json-body.ts";
import { onlyKnown } from "./query.ts";
import { json, type Route } from "./route.ts";
import { ReplayChoicesSchema, ReplayRequestSchema, ReplaySchema } from "./schemas-replays.ts";

const NO_STORE = { "cache-control": "no-store" };

export interface ReplayView {
  readonly id: string;
  readonly status: ReplayWire["status"];
  readonly fromMs: number;
  readonly toMs: number;
  readonly policy: string | null;
  readonly set: Readonly<Record<string, unknown>>;
  readonly progress: number;
  readonly error: string | null;
  readonly result: {
    readonly report: object;
    readonly recordedSpans: readonly SpanRow[];
    readonly otherSpans: readonly SpanRow[] | null;
    readonly waits: WaitDistributionWire;
  } | null;
}

interface Wish {
  readonly fromMs: number;
  readonly toMs: number;
  readonly policy: string | null;
  readonly set: Readonly<Record<string, unknown>>;
}

/** One replay at a time, the last few kept. */
export interface ReplayDesk {
  choices(): Promise<{
    readonly span: { readonly fromMs: number; readonly toMs: number } | null;
    readonly policy: string;
    readonly settings: Readonly<Record<string, unknown>>;
    readonly policies: ReplayChoicesWire["policies"];
    readonly replays: readonly ReplayView[];
  }>;
  start(
    wish: Wish,
  ): Promise<
    | { readonly kind: "started"; readonly replay: ReplayView }
    | { readonly kind: "busy"; readonly retryAfterMs: number }
    | { readonly kind: "refused"; readonly param: string; readonly message: string }
  >;
  find(id: string): Promise<ReplayView | null>;
  /** What runs is cancelled, what has ended is forgotten; null: there is none. */
  remove(id: string): Promise<ReplayView | null>;
}

export function replayRoutes(world: HttpWorld): Route[] {
  const tag = "operations";
  const replay = { 200: json(ReplaySchema, "As it is now") };
  return [
    {
      method: "get",
      path: "/v1/replays",
      tag,
      summary: "What traffic can be replayed, and which settings can be tried",
      answers: { 200: json(ReplayChoicesSchema, "Now") },
      handle: (c) => readChoices(c, world),
    },
    {
      method: "post",
      path: "/v1/replays",
      tag,
      summary: "Replay recorded traffic under other settings, beside what happened; one at a time",
      body: { required: true, content: { "application/json": { schema: ReplayRequestSchema } } },
      answers: { 202: json(ReplaySchema, "Begun; read it again until it is over") },
      handle: (c) => startReplay(c, world),
    },
    {
      method: "get",
      path: "/v1/replays/{id}",
      tag,
      summary: "Read a replay; the newest six are kept",
      answers: replay,
      handle: (c) => readReplay(c, world),
    },
    {
      method: "delete",
      path: "/v1/replays/{id}",
      tag,
      summary: "Cancel a replay, or forget one that is over",
      answers: replay,
      handle: (c) => removeReplay(c, world),
    },
  ];
}

function deskOf({ replays }: HttpWorld): ReplayDesk {
  if (replays === undefined) throw new SirError("route_not_found", "This router replays nothing; use sir replay.");
  return replays;
}

async function readChoices(c: Call, world: HttpWorld): Promise<Response> {
  requireObserver(c);
  onlyKnown(c, []);
  const { span, policy, settings, policies, replays } = await deskOf(world).choices();
  const body: ReplayChoicesWire = {
    object: "replay.choices",
    span: span === null ? null : { from_ms: Math.floor(span.fromMs), to_ms: Math.ceil(span.toMs) },
    policy,
    settings,
    policies,
    replays: replays.map((each) => {
      const { id, status, from_ms, to_ms, policy: tried, set } = replayWire(each);
      return { id, status, from_ms, to_ms, policy: tried, set };
    }),
  };
  return c.json(body, 200, NO_STORE);
}

async function startReplay(c: Call, world: HttpWorld): Promise<Response> {
  requireObserver(c);
  const parsed = ReplayRequestSchema.safeParse(await readJson(c, world));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const param = issue?.path.join(".") ?? "";
    throw new SirError("invalid_body", `${param === "" ? "The body" : param}: ${issue?.message}`, {
      param: param === "" ? "body" : param,
    });
  }
  const { from_ms: fromMs, to_ms: toMs, policy = null, set } = parsed.data;
  if (fromMs >= toMs) throw new SirError("invalid_body", '"from_ms" must lie before "to_ms".', { param: "from_ms" });
  const started = await deskOf(world).start({ fromMs, toMs, policy, set });
  if (started.kind === "refused") throw new SirError("invalid_body", started.message, { param: started.param });
  if (started.kind === "busy") {
    throw new SirError("replay_running", "Another replay runs, and there is one at a time. Wait, or cancel that one.", {
      retryAfterMs: started.retryAfterMs,
    });
  }
  return c.json(replayWire(started.replay), 202, NO_STORE);
}

async function readReplay(c: Call, world: HttpWorld): Promise<Response> {
  requireObserver(c);
  onlyKnown(c, []);
  return answer(c, await deskOf(world).find(c.req.param("id") ?? ""));
}

async function removeReplay(c: Call, world: HttpWorld): Promise<Response> {
  requireObserver(c);
  return answer(c, await deskOf(world).remove(c.req.param("id") ?? ""));
}

function answer(c: Call, replay: ReplayView | null): Response {
  if (replay === null) throw new SirError("replay_not_found", "There is no such replay; only the newest are kept.");
  return c.json(replayWire(replay), 200, NO_STORE);
}

function replayWire({ id, status, fromMs, toMs, policy, set, progress, error, result }: ReplayView): ReplayWire {
  return {
    ...{ id, object: "replay", status, from_ms: fromMs, to_ms: toMs, policy, set, progress, error },
    report: result === null ? null : (result.report as Readonly<Record<string, unknown>>),
    recorded_spans: result?.recordedSpans ?? null,
    other_spans: result?.otherSpans ?? null,
    waits: result?.waits ?? null,
  };
}
