// The OpenAPI document says all that is there, and nothing that is not.

import { expect, it } from "vitest";
import type { JobList, Receipt } from "../../src/client/wire.ts";
import { DecisionSchema, ModelSchema, pageOf, ReceiptSchema } from "../../src/http/schemas.ts";
import { StatusSchema } from "../../src/http/schemas-status.ts";
import { completed, get, given, receiptOf, settled, submitted } from "./given.ts";

interface Document {
  readonly openapi: string;
  readonly paths: Record<string, Record<string, { operationId: string; responses: Record<string, unknown> }>>;
  readonly components: { readonly schemas: Record<string, unknown> };
}

async function documentOf() {
  const world = await given();
  const response = await settled(world, get(world, "/openapi.json"));
  return { world, document: (await response.json()) as Document };
}

it("has every route of the API that is mounted, and no other", async () => {
  const { world, document } = await documentOf();
  const mounted = world.app.routes
    // The dashboard's files and the way to them are no part of the API.
    .filter(({ method, path }) => method !== "ALL" && path !== "/" && !path.startsWith("/dashboard"))
    .map(({ method, path }) => `${method} ${path.replace(/:(\w+)(\{[^}]*\})?/g, "{$1}")}`);

  const described = Object.entries(document.paths).flatMap(([path, verbs]) =>
    Object.keys(verbs).map((verb) => `${verb.toUpperCase()} ${path}`),
  );

  expect(mounted.length).toBeGreaterThan(40);
  expect(described.sort()).toEqual(mounted.sort());
});

it("is OpenAPI 3.1 with every reference resolved and every operation named once", async () => {
  const { document } = await documentOf();
  const text = JSON.stringify(document);
  const names = [...text.matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name = ""]) => name);
  const operations = Object.values(document.paths)
    .flatMap(Object.values)
    .map(({ operationId }) => operationId);

  expect(document.openapi).toBe("3.1.0");
  expect(names.length).toBeGreaterThan(10);
  expect(names.filter((name) => !(name in document.components.schemas))).toEqual([]);
  expect(new Set(operations).size).toBe(operations.length);
});

it("describes what is really sent", async () => {
  const world = await given();
  const done = await completed(world);
  const { id } = await submitted(world);
  const { id: cancelled } = await submitted(world);
  await settled(world, Promise.resolve(world.app.request(`/v1/jobs/${cancelled}/cancel`, { method: "POST" })));
  const json = async (path: string): Promise<unknown> => (await settled(world, get(world, path))).json();

  const receipts: Receipt[] = [];
  for (const each of [done, id, cancelled]) receipts.push((await receiptOf(world, `/v1/jobs/${each}`)).receipt);

  for (const receipt of receipts) expect(ReceiptSchema.strict().parse(receipt)).toEqual(receipt);
  const page = (await json("/v1/jobs")) as JobList;
  expect(pageOf(ReceiptSchema, "P").strict().parse(page)).toEqual(page);
  const models = (await json("/v1/models")) as { data: unknown[] };
  expect(models.data.map((model) => ModelSchema.strict().parse(model))).toEqual(models.data);
  const status = await json("/v1/status");
  expect(StatusSchema.strict().parse(status)).toEqual(status);
  const decisions = (await json("/v1/decisions")) as { data: unknown[] };
  expect(decisions.data.map((decision) => DecisionSchema.strict().parse(decision))).toEqual(decisions.data);
});

it("answers HEAD wherever it answers GET, with the same status and no body", async () => {
  const { world, document } = await documentOf();
  const paths = Object.entries(document.paths).filter(([, verbs]) => "get" in verbs);

  for (const [path] of paths) {
    const url = path.replace("{id}", "org%2Falpha:q4");
    const [got, head] = [
      await settled(world, get(world, url)),
      await settled(world, Promise.resolve(world.app.request(url, { method: "HEAD" }))),
    ];

    expect([url, head.status, await head.text()]).toEqual([url, got.status, ""]);
    expect(head.headers.get("content-type")).toBe(got.headers.get("content-type"));
  }
});
