// The lanes of a chart: each device with the models that may lie on it, from the router's state and from what the spans
// themselves name.

import type { SpanRow } from "../../../src/client/wire-live.ts";
import type { StatusWire } from "../../../src/client/wire-status.ts";
import type { LaneDevice } from "./gantt-layout.ts";

/**
 * @param only Nothing but this device; null: all.
 * @param own A model that has a lane whether or not it did anything.
 */
export function laneDevices(
  now: StatusWire | null,
  spans: readonly SpanRow[],
  only: string | null,
  own: string | null = null,
): LaneDevice[] {
  const labels = new Map((now?.models ?? []).map(({ id, label }) => [id, label]));
  const order = [...labels.keys()];
  const known = (now?.devices ?? []).map(({ id }) => id);
  const ids = [...new Set([...known, ...spans.map(([device]) => device)])].filter((id) => only === null || id === only);
  return ids.map((id) => {
    const seen = new Set(spans.filter(([device]) => device === id).map(([, model]) => model));
    if (own !== null && id === only) seen.add(own);
    const models = [...seen].sort((a, b) => rank(order, a) - rank(order, b));
    return { id, models: models.map((model) => ({ id: model, label: labels.get(model) ?? model })) };
  });
}

function rank(order: readonly string[], model: string): number {
  const at = order.indexOf(model);
  return at === -1 ? order.length : at;
}
