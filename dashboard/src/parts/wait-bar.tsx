// A job's time as one bar, a piece for each cause. In a list its length tells the whole on a logarithmic scale, so that
// four seconds stay visible beside forty minutes.

import type { PartWire } from "../../../src/client/wire-explain.ts";
import { duration } from "./time.ts";

interface WaitBarProps {
  readonly parts: readonly (Pick<PartWire, "cause" | "ms"> & { readonly title?: string })[];
  /** What people call a cause, where the parts bring no title. */
  titleOf?(cause: PartWire["cause"]): string;
  /** The longest whole in the list, in ms; absent: the bar takes all the width. */
  readonly longestMs?: number;
  readonly tall?: boolean;
}

export function WaitBar({ parts, titleOf, longestMs, tall = false }: WaitBarProps) {
  const shown = parts.filter(({ ms }) => ms > 0);
  const wholeMs = shown.reduce((sum, { ms }) => sum + ms, 0);
  const name = (part: WaitBarProps["parts"][number]): string =>
    `${part.title ?? titleOf?.(part.cause) ?? part.cause.replaceAll("_", " ")} ${duration(part.ms)}`;
  const width = longestMs === undefined ? "100%" : `${100 * logShare(wholeMs, longestMs)}%`;
  return (
    <span
      class={`waitbar${tall ? " tall" : ""}`}
      style={{ width }}
      role="img"
      aria-label={shown.length === 0 ? "no wait" : shown.map(name).join(", ")}
    >
      {shown.map((part, index) => (
        <span
          // A cause may come twice, so that its place belongs to its name.
          key={`${part.cause}${index}`}
          class={`seg c-${part.cause}`}
          style={{ flexGrow: part.ms / wholeMs }}
          title={name(part)}
        />
      ))}
    </span>
  );
}

/** 0 to 1: how long the bar of `ms` is beside the longest. */
export function logShare(ms: number, longestMs: number): number {
  if (ms <= 0) return 0;
  return Math.log1p(ms / 1000) / Math.log1p(Math.max(ms, longestMs) / 1000);
}
