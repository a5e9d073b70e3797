// A decision's kind as a word in a frame: filled where something moved, hollow where it stayed.

import type { DecisionWire } from "../../../src/client/wire.ts";

const WORDS: Readonly<Record<DecisionWire["kind"], string>> = {
  swap: "swap",
  load: "load",
  preload: "ahead",
  unload: "unload",
  hold: "stay",
  idle: "idle",
};

export function DecisionKind({ decision }: { readonly decision: Pick<DecisionWire, "kind" | "reason"> }) {
  const forced = decision.kind === "swap" && decision.reason === "ceiling";
  return (
    <span class={`kind k-${decision.kind}${forced ? " forced" : ""}`}>
      {WORDS[decision.kind]}
      {forced && (
        <>
          <span aria-hidden="true"> !</span>
          <span class="sr">, forced by the ceiling</span>
        </>
      )}
    </span>
  );
}
