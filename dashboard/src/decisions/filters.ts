// The filters of the decisions' list, in the address and in the API's query. Pure.

import type { DecisionWire } from "../../../src/client/wire.ts";

export type KindFilter = "moves" | "stays" | "forced" | "all";

export const KINDS: readonly (readonly [value: KindFilter, text: string])[] = [
  ["moves", "Swaps and loads"],
  ["stays", "Kept"],
  ["forced", "By the ceiling"],
  ["all", "All"],
];

const QUERY: Readonly<Record<KindFilter, Readonly<Record<string, string>>>> = {
  moves: { kind: "swap,load,preload,unload" },
  stays: { kind: "hold" },
  forced: { reason: "ceiling" },
  all: {},
};

export interface DecisionFilters {
  readonly kind: KindFilter;
  /** "" is every device. */
  readonly device: string;
}

export function readDecisionFilters(query: URLSearchParams): DecisionFilters {
  const kind = KINDS.find(([value]) => value === query.get("kind"))?.[0] ?? "moves";
  return { kind, device: query.get("device") ?? "" };
}

export function decisionQuery({ kind, device }: DecisionFilters, after: string | null): Record<string, string | null> {
  return { ...QUERY[kind], device, limit: "50", after };
}

export function isShown({ kind, device }: DecisionFilters, decision: DecisionWire): boolean {
  if (device !== "" && decision.device !== device) return false;
  if (kind === "forced") return decision.reason === "ceiling";
  const stays = decision.kind === "hold" || decision.kind === "idle";
  return kind === "all" || (kind === "stays" ? decision.kind === "hold" : !stays);
}
