// When a queued job's turn is expected, in numbers and in one or two sentences. An estimate and a promise are said apart,
// and what is not known is left out.

import type { ExpectationWire } from "../client/wire-explain.ts";
import type { Place } from "../engine/control.ts";
import { thousands } from "../scheduler/wording.ts";
import { aboutTime, boundTime, timeOfDay } from "./time-of-day.ts";

/** Closer ones are one instant. */
const ONE_MS = 1_500;

/** @param nowMs Router time, @param nowWallMs and what the wall clock says at that moment. */
export function expectationOf(place: Place, nowMs: number, nowWallMs: number): ExpectationWire {
  const wall = (inMs: number): number => Math.round(place.asOfMs + inMs - nowMs + nowWallMs);
  const { position, start, blocked } = place;
  const range = blocked === null ? start : null;
  const bound = blocked !== null || place.loadBoundMs === null || place.resident ? null : wall(place.loadBoundMs);
  const low = range === null ? null : wall(range.lowMs);
  const mid = range === null ? null : wall(range.midMs);
  const high = range === null ? null : wall(range.highMs);
  const sentences = [
    placeWords(place),
    blockedWords(place, nowMs, nowWallMs),
    expectedWords(low, mid, high, nowWallMs),
    boundWords(bound, nowWallMs),
  ];
  const text = sentences.filter((each) => each !== null).join(" ");
  return { position, low_ms: low, mid_ms: mid, high_ms: high, bound_ms: bound, text };
}

function placeWords({ position, queued }: Place): string | null {
  if (position === null) return null;
  if (queued <= 1) return "The only one that waits for its model.";
  return `Number\u00a0${thousands(position + 1)} of\u00a0${thousands(queued)} for its model.`;
}

/** What keeps it from starting whatever its place is. */
function blockedWords({ blocked }: Place, nowMs: number, nowWallMs: number): string | null {
  if (blocked === null) return null;
  if (blocked.reason === "paused") return "Nothing of it starts until an operator ends the pause.";
  const { retryAtMs } = blocked;
  const next =
    retryAtMs === null || retryAtMs <= nowMs ? "" : ` before ${timeOfDay(retryAtMs - nowMs + nowWallMs, nowWallMs)}`;
  const failed = blocked.reason === "engine_unavailable" ? "Its engine did not answer" : "Its model failed to load";
  return `${failed} and is not tried again${next === "" ? " yet" : next}.`;
}

function expectedWords(low: number | null, mid: number | null, high: number | null, nowWallMs: number): string | null {
  if (mid === null) return null;
  return `Expected to start ${aboutWords(low, mid, high, nowWallMs)}.`;
}

/** `at about 21:59 (21:55 to 22:03 if nothing new arrives)`. */
export function aboutWords(low: number | null, mid: number, high: number | null, nowWallMs: number): string {
  if (mid - nowWallMs < ONE_MS && (high ?? mid) - nowWallMs < ONE_MS) return "at once";
  const at = aboutTime(mid, nowWallMs);
  if (low === null || high === null) return `at about\u00a0${at}`;
  const [from, to] = [aboutTime(low, nowWallMs), aboutTime(high, nowWallMs)];
  if (from === to) return `at about\u00a0${at}, if nothing new arrives`;
  return `at about\u00a0${at} (${from}\u00a0to\u00a0${to} if nothing new arrives)`;
}

function boundWords(bound: number | null, nowWallMs: number): string | null {
  return bound === null
    ? null
    : `Its model is loaded by ${boundTime(bound, nowWallMs)} at the latest, with every drain at its longest.`;
}
