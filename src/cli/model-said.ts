// What became of an operator's word about a model, in a sentence: most of it takes effect after the answer.

import type { ModelStatusWire, StatusWire } from "../client/wire-status.ts";
import { quantity } from "../scheduler/wording.ts";
import { span } from "./quantity.ts";

type ModelVerb = "load" | "unload" | "pin" | "unpin" | "drain";

/** @param model As it is right after the answer, and so are all. */
export function modelSaid(verb: ModelVerb, model: ModelStatusWire, models: StatusWire["models"]): string {
  switch (verb) {
    case "load":
      return loadSaid(model, models);
    case "pin":
      return model.state === "resident"
        ? `${model.id} is pinned: no other model evicts it.`
        : `${model.id} is pinned: it stays once it is loaded. ${loadSaid(model, models)}`;
    case "unpin":
      return `${model.id} is no longer pinned.`;
    default:
      return unloadSaid(verb, model);
  }
}

function loadSaid(
  { id, state, device, homes, loads, load_seconds }: ModelStatusWire,
  all: StatusWire["models"],
): string {
  if (homes.length === 0) return `${id} is always on: it is served elsewhere.`;
  const where = device === null ? "" : ` on ${device}`;
  if (state === "resident") return `${id} is loaded${where}.`;
  const seconds = loads.median_seconds ?? load_seconds;
  const time = `about ${span(seconds * 1_000)}`;
  if (state === "loading") return `Asked for. Loading ${id}${where}, ${time}.`;
  const pinned = all.filter((other) => other.id !== id && other.pinned && homes.includes(other.device ?? ""));
  if (pinned.length === 0) return `Asked for. ${id} is loaded (${time}) as soon as ${homes.join(" or ")} can take it.`;
  const [first] = pinned;
  const names = pinned.map((other) => `${other.id} (on ${other.device})`).join(", ");
  const it = pinned.length === 1 ? "it is" : "one of them is";
  return `Asked for. ${names} is pinned: where ${id} does not fit beside, it waits until ${it} unpinned or unloaded (sir models unpin ${first?.id}).`;
}

function unloadSaid(verb: "unload" | "drain", { id, state, running, pinned }: ModelStatusWire): string {
  const still = pinned ? ` It is pinned still: sir models unpin ${id} ends that.` : "";
  if (state === "absent") return `${id} is not loaded.${still}`;
  const first = running === 0 ? "" : ` once ${quantity(running, "running job has", "running jobs have")} finished`;
  const later = verb === "drain" ? ` Nothing more of it starts until \`sir models load ${id}\`.` : "";
  return `Asked for. ${id} is unloaded${first}.${later}${still}`;
}
