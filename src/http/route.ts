// A route: where it is, what it says of itself in the OpenAPI document, and what it does. Mounting it does both, so that
// neither can be without the other.

import { createRoute, type OpenAPIHono, type RouteConfig, type z } from "@hono/zod-openapi";
import { TrieRouter } from "hono/router/trie-router";
import type { Scope } from "../domain/caller-key.ts";
import { requireScope } from "./caller.ts";
import type { Call, HttpEnv } from "./deps.ts";
import { engineBody, idParam } from "./parameters.ts";
import { ErrorSchema } from "./schemas.ts";

export interface Route {
  readonly method: "get" | "post" | "delete";
  /** As OpenAPI writes it, e.g. `/v1/jobs/{id}`. */
  readonly path: string;
  /** As hono writes it, where an id may hold slashes. */
  readonly pattern?: string;
  readonly tag:
    | "inference"
    | "responses"
    | "jobs"
    | "files"
    | "batches"
    | "hints"
    | "models"
    | "decisions"
    | "operations"
    | "admin";
  readonly summary: string;
  /** The scope that a key must have, where it is not the one of the tag; null: any key will do. */
  readonly needs?: Scope | null;
  readonly query?: z.ZodObject;
  readonly headers?: z.ZodObject;
  /** Takes the engine's own request body, which is not described here. */
  readonly takesBody?: boolean;
  /** Takes a body that is ours to describe. */
  readonly body?: NonNullable<RouteConfig["request"]>["body"];
  /** Besides errors, which every route may answer with. */
  readonly answers: RouteConfig["responses"];
  handle(c: Call): Response | Promise<Response>;
}

/** What makes work needs `submit`; what only reads looks at what each caller may see. Admin routes ask by themselves. */
const NEEDED_BY_TAG: Readonly<Record<Route["tag"], Scope | null>> = {
  inference: "submit",
  responses: "submit",
  files: "submit",
  batches: "submit",
  hints: "submit",
  jobs: null,
  models: null,
  decisions: null,
  operations: null,
  admin: null,
};

const JSON_TYPE = "application/json";

/** A JSON answer of one shape. */
export function json(schema: z.ZodType, description: string): RouteConfig["responses"][string] {
  return { description, content: { [JSON_TYPE]: { schema } } };
}

/** An answer whose bytes are not ours to describe. */
export function opaque(description: string, type = "*/*"): RouteConfig["responses"][string] {
  return { description, content: { [type]: { schema: {} } } };
}

/** Knows which methods a path has, for 405 and `Allow`. */
export class Paths {
  readonly #router = new TrieRouter<string>();
  readonly #methods = new Set<string>();

  add(method: string, pattern: string): void {
    this.#router.add(method, pattern, method);
    this.#methods.add(method);
  }

  allowed(path: string): string[] {
    const methods = [...this.#methods].filter((method) => this.#router.match(method, path)[0].length > 0);
    return methods.includes("GET") ? [...methods, "HEAD"] : methods;
  }
}

export function mount(app: OpenAPIHono<HttpEnv>, paths: Paths, route: Route): void {
  const { method, path, tag, summary } = route;
  const definition = createRoute({
    method,
    path,
    tags: [tag],
    summary,
    operationId: `${method}${path.replace(/[^A-Za-z0-9]+(.)?/g, (_, next: string | undefined) => next?.toUpperCase() ?? "")}`,
    request: {
      ...(path.includes("{id}") ? { params: idParam } : {}),
      ...(route.query === undefined ? {} : { query: route.query }),
      ...(route.headers === undefined ? {} : { headers: route.headers }),
      ...(route.takesBody === true ? { body: engineBody } : {}),
      ...(route.body === undefined ? {} : { body: route.body }),
    },
    responses: { ...route.answers, default: json(ErrorSchema, "Any error, in OpenAI's envelope") },
  });
  app.openAPIRegistry.registerPath(definition);
  const pattern = route.pattern ?? definition.getRoutingPath();
  paths.add(method.toUpperCase(), pattern);
  const needs = route.needs === undefined ? NEEDED_BY_TAG[tag] : route.needs;
  app.on(method.toUpperCase(), pattern, (c) => {
    c.set("route", path);
    if (needs !== null) requireScope(c, needs);
    return route.handle(c);
  });
}
