// Models, decisions, status, health, metrics, and the verbs of operators.

import { z } from "@hono/zod-openapi";
import { changeModel, changeRouter, type ModelVerb, PauseRequestSchema, readLogs } from "./admin.ts";
import { listDecisions, readDecision } from "./decisions.ts";
import type { HttpWorld } from "./deps.ts";
import { readHistory } from "./history.ts";
import { listModels, readModel } from "./models.ts";
import { decisionsQuery, deviceQuery, forceQuery, historyQuery, linesQuery } from "./parameters.ts";
import { json, opaque, type Route } from "./route.ts";
import { DecisionSchema, HistorySchema, LogsSchema, ModelSchema, pageOf, ReadySchema } from "./schemas.ts";
import { ModelStatusSchema, StatusSchema } from "./schemas-status.ts";
import { healthz, readMetrics, readStatus, readyz } from "./status.ts";

const modelPage = pageOf(ModelSchema, "ModelList");
const decisionPage = pageOf(DecisionSchema, "DecisionList");

export function modelRoutes(world: HttpWorld): Route[] {
  const createdAt = Math.floor(world.clock.wallMs() / 1000);
  const tag = "models";
  return [
    {
      method: "get",
      path: "/v1/models",
      tag,
      summary: "List models",
      answers: { 200: json(modelPage, "All models, in the configuration's order") },
      handle: (c) => listModels(c, world, createdAt),
    },
    {
      method: "get",
      path: "/v1/models/{id}",
      pattern: "/v1/models/:id{.+}",
      tag,
      summary: "Read a model, by name or alias",
      answers: { 200: json(ModelSchema, "The model") },
      handle: (c) => readModel(c, world, createdAt),
    },
  ];
}

export function decisionRoutes(world: HttpWorld): Route[] {
  return ["/v1/decisions", "/decisions"].flatMap((base): Route[] => [
    {
      method: "get",
      path: base,
      tag: "decisions",
      summary: "What was decided and why, newest first",
      query: decisionsQuery,
      answers: { 200: json(decisionPage, "One page") },
      handle: (c) => listDecisions(c, world),
    },
    {
      method: "get",
      path: `${base}/{id}`,
      tag: "decisions",
      summary: "Read a decision",
      answers: { 200: json(DecisionSchema, "The decision") },
      handle: (c) => readDecision(c, world),
    },
  ]);
}

export function operationsRoutes(world: HttpWorld): Route[] {
  const tag = "operations";
  return [
    {
      method: "get",
      path: "/v1/status",
      tag,
      summary: "The router's state",
      answers: { 200: json(StatusSchema, "Now") },
      handle: (c) => readStatus(c, world),
    },
    {
      method: "get",
      path: "/healthz",
      tag,
      summary: "Does the process answer?",
      answers: { 200: json(z.object({ status: z.literal("ok") }).openapi("Health"), "Yes") },
      handle: (c) => healthz(c),
    },
    {
      method: "get",
      path: "/readyz",
      tag,
      summary: "Can it take work?",
      answers: { 200: json(ReadySchema, "Yes"), 503: json(ReadySchema, "No, and why") },
      handle: (c) => readyz(c, world),
    },
    {
      method: "get",
      path: "/metrics",
      tag,
      summary: "Prometheus metrics",
      needs: "observe",
      answers: { 200: opaque("Text exposition format", "text/plain") },
      handle: () => readMetrics(world),
    },
  ];
}

const MODEL_VERBS: Readonly<Record<ModelVerb, string>> = {
  load: "Load a model",
  unload: "Unload a model, after a drain unless forced",
  pin: "Never evict a model",
  unpin: "Let a model be evicted again",
  drain: "Finish what runs, take no more, unload",
};

const note = { required: false, content: { "application/json": { schema: PauseRequestSchema } } };

const ROUTER_VERBS = {
  pause: "Stop starting jobs and moving models, on one device or everywhere; kept through restarts",
  resume: "Go on after a pause of the same; everywhere also after a drain",
  drain: "Take no new work; finish what runs",
} as const;

export function adminRoutes(world: HttpWorld): Route[] {
  const tag = "admin";
  const ofModels = Object.entries(MODEL_VERBS).map(
    ([verb, summary]): Route => ({
      method: "post",
      path: `/admin/models/{id}/${verb}`,
      pattern: `/admin/models/:id{.+}/${verb}`,
      tag,
      summary,
      ...(verb === "unload" ? { query: forceQuery } : {}),
      ...(verb === "drain" ? { body: note } : {}),
      answers: { 200: json(ModelStatusSchema, "The model as it is now; the effect may still be under way") },
      handle: (c) => changeModel(c, world, verb as ModelVerb),
    }),
  );
  const ofRouter = Object.entries(ROUTER_VERBS).map(
    ([verb, summary]): Route => ({
      method: "post",
      path: `/admin/${verb}`,
      tag,
      summary,
      ...(verb === "drain" ? {} : { query: deviceQuery }),
      ...(verb === "pause" ? { body: note } : {}),
      answers: { 200: json(StatusSchema, "The router as it is now") },
      handle: (c) => changeRouter(c, world, verb as keyof typeof ROUTER_VERBS),
    }),
  );
  const logs: Route = {
    method: "get",
    path: "/admin/models/{id}/logs",
    pattern: "/admin/models/:id{.+}/logs",
    tag,
    summary: "The engine's newest log lines",
    query: linesQuery,
    answers: { 200: json(LogsSchema, "Oldest first") },
    handle: (c) => readLogs(c, world),
  };
  const history: Route = {
    method: "get",
    path: "/admin/history/{part}",
    tag,
    summary: "What was recorded of traffic, page by page, for running it again",
    query: historyQuery,
    answers: { 200: json(HistorySchema, "Oldest first") },
    handle: (c) => readHistory(c, world),
  };
  return [...ofModels, ...ofRouter, logs, history];
}
