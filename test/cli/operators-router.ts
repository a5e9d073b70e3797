// A router in virtual time behind a real port, stopped at one instant: what a command prints of it is the same each time.

import type { AddressInfo } from "node:net";
import { serve } from "@hono/node-server";
import { onTestFinished } from "vitest";
import type { Given } from "../given.ts";
import { given } from "../given.ts";

type World = Awaited<ReturnType<typeof given>>;

export interface OperatorsRouter {
  readonly world: World;
  readonly origin: string;
  close(): Promise<void>;
}

export async function operatorsRouter(facts: Given): Promise<OperatorsRouter> {
  const world = await given(facts);
  // Time goes on only as far as an answer needs it.
  let turn: Promise<unknown> = Promise.resolve();
  const answer = (request: Request, env: unknown): Promise<Response> => {
    const mine = turn.then(() => world.answer(world.app.fetch(request, env as Parameters<World["app"]["fetch"]>[1])));
    turn = mine.catch(() => undefined);
    return mine;
  };
  const server = serve({ fetch: answer, port: 0, hostname: "127.0.0.1" });
  await new Promise<void>((resolve) => {
    server.once("listening", () => resolve());
  });
  const { port } = server.address() as AddressInfo;
  const close = (): Promise<void> => new Promise((resolve) => server.close(() => resolve()));
  onTestFinished(close);
  return { world, origin: `http://127.0.0.1:${port}`, close };
}
