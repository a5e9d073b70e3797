// What tests of the redirect ladder share: the first redirect, where one leads, and what became of the job.

import { expect } from "vitest";
import { ASK, type Given, get, post, settled } from "./given.ts";

export const SDK = { "x-stainless-retry-count": "0" };

/** The path that a redirect leads to. */
export function target(response: Response, from: string): string {
  expect(response.status).toBe(303);
  const { pathname, search } = new URL(response.headers.get("location") ?? "", `http://sir${from}`);
  return pathname + search;
}

/** The first redirect of a call that takes longer than its hold. */
export async function onLadder(world: Given, headers: Record<string, string> = SDK, body: unknown = ASK) {
  const response = await settled(world, post(world, body, { headers }));
  const path = target(response, "/v1/chat/completions");
  return { response, path, id: path.split("/")[3] ?? "" };
}

export async function statusOf(world: Given, id: string): Promise<string> {
  const { data } = (await (await settled(world, get(world, "/v1/jobs"))).json()) as {
    data: { id: string; status: string }[];
  };
  return data.find((job) => job.id === id)?.status ?? "none";
}
