// The whole HTTP side as one function from requests to answers. It listens nowhere; listen.ts does.

import { OpenAPIHono } from "@hono/zod-openapi";
import type { Hono } from "hono";
import { SirError } from "../domain/errors.ts";
import { createPoll } from "../intake/poll.ts";
import type { ApiDocument } from "./api-outline.ts";
import { API_PAGE_HEADERS, apiPage } from "./api-page.ts";
import { authenticate } from "./authenticate.ts";
import { batchRoutes } from "./batch-routes.ts";
import { mountDashboard } from "./dashboard.ts";
import type { Call, HttpDeps, HttpEnv, HttpWorld } from "./deps.ts";
import { errorResponse } from "./error-body.ts";
import { fileRoutes } from "./file-routes.ts";
import { hintRoutes } from "./hint-routes.ts";
import { inferenceRoutes } from "./inference-routes.ts";
import { jobRoutes } from "./job-routes.ts";
import { adminRoutes, decisionRoutes, modelRoutes, operationsRoutes } from "./operations-routes.ts";
import { replayRoutes } from "./replays.ts";
import { requestId } from "./request-id.ts";
import { PassingResponses } from "./responses/passing.ts";
import { responseRoutes } from "./responses/routes.ts";
import { mount, opaque, Paths, type Route } from "./route.ts";
import { createLive, streamRoutes } from "./stream.ts";
import { timeZone } from "./time-zone.ts";
import { timelineRoutes } from "./timeline-routes.ts";
import { tuningRoutes } from "./tuning.ts";

export function createApp(deps: HttpDeps): Hono<HttpEnv> {
  const live = createLive(deps, () => world);
  const world: HttpWorld = { ...deps, poll: createPoll(deps), passing: new PassingResponses(), live };
  const app = new OpenAPIHono<HttpEnv>();
  const paths = new Paths();
  app.use(requestId(world));
  app.use(timeZone());
  app.use(authenticate(world));
  for (const route of routes(app, world)) mount(app, paths, route);
  mountDashboard(app, paths, deps.dashboardFolder);
  app.onError((error, c) => answerError(c, world, error));
  app.notFound((c) => answerError(c, world, nowhere(c, paths)));
  return app;
}

function routes(app: OpenAPIHono<HttpEnv>, world: HttpWorld): Route[] {
  return [
    ...inferenceRoutes(world),
    ...responseRoutes(world),
    ...jobRoutes(world),
    ...fileRoutes(world),
    ...batchRoutes(world),
    ...modelRoutes(world),
    ...hintRoutes(world),
    ...decisionRoutes(world),
    ...operationsRoutes(world),
    ...streamRoutes(world),
    ...timelineRoutes(world),
    ...adminRoutes(world),
    ...tuningRoutes(world),
    ...replayRoutes(world),
    {
      method: "get",
      path: "/openapi.json",
      tag: "operations",
      summary: "This document",
      answers: { 200: opaque("OpenAPI 3.1", "application/json") },
      handle: (c) => c.json(describe(app, world)),
    },
    {
      method: "get",
      path: "/docs",
      tag: "operations",
      summary: "The same, as a page",
      answers: { 200: opaque("HTML", "text/html") },
      handle: (c) => c.html(apiPage(describe(app, world) as ApiDocument), 200, API_PAGE_HEADERS),
    },
  ];
}

function describe(app: OpenAPIHono<HttpEnv>, world: HttpWorld): object {
  return app.getOpenAPI31Document({
    openapi: "3.1.0",
    info: {
      title: "SIR",
      version: world.version ?? "unknown",
      description: "One OpenAI-compatible endpoint in front of GPUs that cannot hold every model at once.",
    },
  });
}

function nowhere(c: Call, paths: Paths): SirError {
  const allow = paths.allowed(c.req.path);
  if (allow.length > 0) {
    return new SirError("method_not_allowed", `This route answers ${allow.join(", ")}, not ${c.req.method}.`, {
      allow,
    });
  }
  return new SirError("route_not_found", `No such route.${meant(c, paths)} GET /openapi.json lists all of them.`);
}

/** What is asked for most often by mistake: a path without its `/v1`, or with two of them. */
function meant(c: Call, paths: Paths): string {
  const { path, method } = c.req;
  const there = (candidate: string): boolean => paths.allowed(candidate).includes(method);
  if (path.startsWith("/v1/v1/") && there(path.slice(3))) {
    return ` Did you mean ${path.slice(3)}? The base URL already ends in /v1.`;
  }
  return there(`/v1${path}`) ? ` Did you mean /v1${path}? A client's base URL ends in /v1.` : "";
}

function answerError(c: Call, world: HttpWorld, error: unknown): Response {
  const read = c.req.method === "GET" || c.req.method === "HEAD" || c.req.method === "DELETE";
  return errorResponse(error, {
    safeToRepeat: read || c.req.raw.headers.has("idempotency-key"),
    onUnknown: (unknown) => world.log?.({ type: "http.error", requestId: c.get("requestId"), error: unknown }),
  });
}
