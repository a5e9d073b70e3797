// `POST /v1/responses` with `background: true`: a durable job without a lease, answered at once with its response.

import { SirError } from "../../domain/errors.ts";
import type { PreparedCall } from "../../intake/intake.ts";
import type { Examined } from "../../responses/examine.ts";
import { isRecord } from "../../responses/json.ts";
import { readRequest } from "../../responses/reading.ts";
import type { Call, HttpWorld } from "../deps.ts";
import { replayHeaders } from "../held.ts";
import { followResponse, responseJson } from "./follow.ts";
import { bytesOf, factsOf } from "./stored-response.ts";

/** @throws {SirError} invalid_body with the name of what cannot be asked in the background or of this model's engine */
export async function createResponse(c: Call, world: HttpWorld, prepared: PreparedCall): Promise<Response> {
  const { echo } = await examined(world, prepared);
  const metadata = isRecord(echo["metadata"]) ? (echo["metadata"] as Record<string, string>) : {};
  const accepted = await world.intake.accept({ ...prepared, metadata }, "background");
  const { job } = accepted;
  c.set("job", job.id);
  const facts = await factsOf(world, job, echo);
  const headers = replayHeaders(accepted);
  return job.stream
    ? followResponse(c, world, job, facts, { after: -1, headers })
    : responseJson(c, world, job, facts, headers);
}

async function examined(world: HttpWorld, prepared: PreparedCall): Promise<Examined> {
  try {
    const found = await readRequest(await bytesOf(world, prepared.body));
    const chatFault = world.engine.speaksChatOnly(prepared.model.name) ? found.chatFault : null;
    const fault = found.fault ?? chatFault;
    if (fault !== null) throw new SirError("invalid_body", fault.message, { param: fault.param });
    return found;
  } catch (error) {
    await prepared.discard();
    throw error;
  }
}
