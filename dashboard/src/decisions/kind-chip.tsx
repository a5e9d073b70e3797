// What kind of decision it was, as a chip: moves are filled, stays are outlined, the ceiling's are marked.

interface KindChipProps {
  readonly kind: string;
  readonly reason: string;
}

export function KindChip({ kind, reason }: KindChipProps) {
  const forced = reason === "ceiling";
  const stays = kind === "hold" || kind === "idle";
  return (
    <span class={`kind ${stays ? "stays" : "moves"}${forced ? " forced" : ""}`}>
      {forced && <span aria-hidden="true">! </span>}
      {wordOf(kind, reason)}
      {forced && <span class="sr">, by the ceiling</span>}
    </span>
  );
}

/** A load that nobody waits for is ahead of need only where it was expected; else it puts back what was there. */
function wordOf(kind: string, reason: string): string {
  if (kind === "preload") return reason === "preload" ? "ahead" : "load";
  return kind === "hold" ? "kept" : kind;
}
