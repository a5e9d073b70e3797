// What kind of decision it was, as a chip: moves are filled, stays are outlined, the ceiling's are marked.

interface KindChipProps {
  readonly kind: string;
  /** The ceiling spoke. */
  readonly forced: boolean;
}

const WORDS: Readonly<Record<string, string>> = { hold: "kept", preload: "ahead" };

export function KindChip({ kind, forced }: KindChipProps) {
  const stays = kind === "hold" || kind === "idle";
  return (
    <span class={`kind ${stays ? "stays" : "moves"}${forced ? " forced" : ""}`}>
      {forced && <span aria-hidden="true">! </span>}
      {WORDS[kind] ?? kind}
      {forced && <span class="sr">, by the ceiling</span>}
    </span>
  );
}
