// What the keys of `sir top` do to a model or a job, and the pages that open over its screen.

import type { Receipt } from "../client/wire.ts";
import type { ExplanationWire } from "../client/wire-explain.ts";
import type { Io } from "./command.ts";
import { decisionLines } from "./decision-text.ts";
import { explanationLines } from "./explain-report.ts";
import { timeText } from "./instant.ts";
import { type RouterClient, RouterError } from "./router-client.ts";
import type { Item, TopState } from "./top-state.ts";
import { harmless, wrapped } from "./width.ts";

export interface Question {
  readonly text: string;
  act(): Promise<string>;
}

/** What `x`, `l`, `u` and `p` come to on this item: a question, an act, or a word on why not. */
export function actOn(
  key: "cancel" | "load" | "unload" | "pin",
  item: Item | undefined,
  state: TopState,
  router: RouterClient,
): Question | (() => Promise<string>) | string {
  if (key === "cancel") {
    if (item?.kind !== "job") return "Select a job to cancel it.";
    return { text: `Cancel ${item.id}? y or n`, act: () => cancel(router, item.id) };
  }
  if (item?.kind !== "model") return `Select a model to ${key} it.`;
  const found = state.status.models.find(({ id }) => id === item.model);
  if (found === undefined) return "That model is gone.";
  const path = (verb: string): string => `/admin/models/${encodeURIComponent(found.id)}/${verb}`;
  if (key === "load") return () => told(router.ask("POST", path("load")), `Asked to load ${found.id}.`);
  if (key === "pin") {
    const verb = found.pinned ? "unpin" : "pin";
    return () => told(router.ask("POST", path(verb)), `${found.id} is ${verb}ned.`);
  }
  const first = found.running > 0 ? ` ${found.running} running will finish first.` : "";
  return {
    text: `Unload ${found.id}?${first} y or n`,
    act: () => told(router.ask("POST", path("unload")), `Asked to unload ${found.id}.`),
  };
}

async function cancel(router: RouterClient, id: string): Promise<string> {
  const { status } = (await router.ask("POST", `/v1/jobs/${id}/cancel`)) as Receipt;
  return `${id}: ${status}.`;
}

async function told(asked: Promise<unknown>, text: string): Promise<string> {
  await asked;
  return text;
}

/** The page behind Enter. */
export async function pageOf(item: Item | undefined, state: TopState, router: RouterClient, io: Io): Promise<string[]> {
  if (item?.kind === "job") {
    const explanation = (await router.ask("GET", `/v1/jobs/${item.id}/explain`)) as ExplanationWire;
    return [item.id, "", ...explanationLines(explanation, io)].flatMap((text) => text.split("\n"));
  }
  const device = state.status.devices.find(({ id }) => id === item?.device);
  if (device === undefined) return ["Nothing is selected."];
  const text = wrapped(harmless(device.summary.text), io.screen.size().columns);
  const decision = device.decision === null ? [] : ["", ...decisionLines(device.decision, io)];
  return [device.id, "", ...text, ...decision].flatMap((line) => line.split("\n"));
}

export function decisionsPage({ decisions }: TopState, io: Io): string[] {
  const room = io.screen.size().columns;
  return decisions.flatMap(({ at, device, kind, reason, sentence }) => [
    `${timeText(at * 1_000, io.zone)}  ${harmless(device)}  ${kind} ${reason}`,
    ...wrapped(harmless(sentence), room - 2).map((line) => `  ${line}`),
  ]);
}

export function failureText(error: unknown): string {
  if (error instanceof RouterError) return error.message;
  throw error;
}
