// What settings, values and policies are called on the page; the configuration's own names stand beside. Pure.

import type { ReplaySettingWire } from "../../../src/client/wire-live.ts";
import { duration } from "../../../src/scheduler/wording.ts";

const NAMES: Readonly<Record<string, string>> = {
  maxWaitSeconds: "Ceiling",
  minResidencySeconds: "Minimum residency",
  switchCostWeight: "Switch cost",
  serveBeforeSwap: "Serve before a swap",
  ageWeight: "Weight of age",
  depthWeight: "Weight of depth",
  idleLapse: "Switch cost lapses when idle",
  agingDivisorSeconds: "Seconds of waiting for one point",
  swapAffinityBonus: "Points for being loaded",
};

/** Shown first; the rest behind a fold. */
const MAIN = [
  "maxWaitSeconds",
  "minResidencySeconds",
  "switchCostWeight",
  "ageWeight",
  "depthWeight",
  "price",
  "visitSeconds",
  "swapShare",
  "agingDivisorSeconds",
  "swapAffinityBonus",
];

export const isMain = (key: string): boolean => MAIN.includes(key);

export function nameOf(key: string): string {
  const plain = key.replace(/Seconds$/, "").replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return NAMES[key] ?? plain.charAt(0).toUpperCase() + plain.slice(1);
}

/** The first clause of a sentence that says more. */
export function briefly({ description }: Pick<ReplaySettingWire, "description">): string {
  const text = description.replace(/^[a-z-]+: /, "").replace(/^The ceiling: /, "");
  const end = text.search(/[;.](\s|$)/);
  const brief = end === -1 ? text : text.slice(0, end);
  return brief.charAt(0).toUpperCase() + brief.slice(1);
}

export function valueText(value: unknown, unit: string): string {
  if (value === null || value === undefined) return "off";
  if (typeof value === "number") return unit === "s" ? duration(value * 1000) : String(value);
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "object") {
    const parts = Object.entries(value).map(([key, each]) => `${key} ${valueText(each, unit)}`);
    return parts.length === 0 ? "defaults" : parts.join(", ");
  }
  return String(value);
}

export const POLICY_WORDS: Readonly<Record<string, string>> = {
  "model-score": "a score of age and depth",
  stint: "what a swap saves against what it costs",
  longest: "the longest queue",
  fifo: "order of arrival",
  serial: "priority of the first job",
};
