// The rows of the jobs' list. Up to two hundred stand in the document, of more only those in view and a few around; the row
// with the cursor always, so that the focus is never lost. One tab stop: arrows or j and k move it.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { useLabels } from "../live/labels.ts";
import { PHONE, useMedia } from "../parts/size.ts";
import { useKeys } from "../typing.ts";
import { JobCard, JobLine } from "./row.tsx";
import { isOver, type ReadRow } from "./rows.ts";
import { moved, type Span, spanInView } from "./window.ts";

const ROW_PX = 40;
const CARD_PX = 96;
const ALL_ROWS = 200;
const COLUMNS = ["Created", "Job", "Model", "Band", "Caller", "Status", "Time spent (log)", "Waited", "Ran"];

interface JobListProps {
  readonly list: readonly ReadRow[];
  /** Rows may follow: how many there are is not known. */
  readonly hasMore: boolean;
  /** Of the longest bar. */
  readonly longestMs: number;
  cancel(row: ReadRow): void;
}

export function JobList({ list, hasMore, longestMs, cancel }: JobListProps) {
  const phone = useMedia(PHONE);
  const labelOf = useLabels();
  const height = phone ? CARD_PX : ROW_PX;
  const box = useRef<HTMLDivElement>(null);
  const span = useSpan(box, list.length, height);
  const [cursor, setCursor] = useState<string | null>(null);
  const at = Math.max(
    0,
    list.findIndex(({ id }) => id === cursor),
  );
  const focusNext = useRef(false);
  useLayoutEffect(() => {
    if (!focusNext.current) return;
    focusNext.current = false;
    const link = box.current?.querySelector<HTMLElement>(`[data-at="${at}"]`);
    link?.focus({ preventScroll: true });
    link?.closest("[role=row]")?.scrollIntoView({ block: "nearest" });
  }, [at, list, cursor]);
  useKeys((event) => {
    const inside = box.current?.contains(document.activeElement) === true;
    const row = list[at];
    if (event.key === "c" && inside && row !== undefined && !isOver(row)) {
      event.preventDefault();
      cancel(row);
      return;
    }
    const next = moved(event.key, inside || cursor !== null ? at : -1, list.length, inside);
    if (next === null) return;
    event.preventDefault();
    const id = list[next]?.id ?? null;
    if (id === cursor) box.current?.querySelector<HTMLElement>(`[data-at="${next}"]`)?.focus();
    else {
      focusNext.current = true;
      setCursor(id);
    }
  });
  const shown = list.length <= ALL_ROWS ? { from: 0, to: list.length } : span;
  const indices = Array.from({ length: shown.to - shown.from }, (_, i) => shown.from + i);
  if (list.length > 0 && (at < shown.from || at >= shown.to)) indices.push(at);
  return (
    // biome-ignore lint/a11y/useSemanticElements: rows are placed one by one, which the browser's own table cannot do
    <div class="jobs" role="table" aria-label="Jobs" aria-rowcount={hasMore ? -1 : list.length + 1}>
      {/* biome-ignore lint/a11y/useSemanticElements lint/a11y/useFocusableInteractive: as above; the links have the focus */}
      <div class={phone ? "sr" : "job-row head"} role="row" aria-rowindex={1}>
        {COLUMNS.map((name, i) => (
          // biome-ignore lint/a11y/useSemanticElements lint/a11y/useFocusableInteractive: as above
          <span key={name} role="columnheader" class={i > 6 ? "num" : ""}>
            {name}
          </span>
        ))}
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: as above */}
      <div ref={box} class="job-rows" role="rowgroup" style={{ height: `${list.length * height}px` }}>
        {indices.map((index) => {
          const row = list[index];
          if (row === undefined) return null;
          const Row = phone ? JobCard : JobLine;
          const place = { index, topPx: index * height, tabStop: index === at, longestMs, label: labelOf(row.model) };
          return <Row key={row.id} row={row} {...place} onFocus={setCursor} cancel={cancel} />;
        })}
      </div>
    </div>
  );
}

function useSpan(box: { readonly current: HTMLElement | null }, count: number, height: number): Span {
  const [span, setSpan] = useState<Span>({ from: 0, to: Math.min(count, 40) });
  useEffect(() => {
    const look = (): void => {
      const topPx = box.current?.getBoundingClientRect().top ?? 0;
      const next = spanInView(topPx, innerHeight, count, height);
      setSpan((last) => (last.from === next.from && last.to === next.to ? last : next));
    };
    look();
    addEventListener("scroll", look, { passive: true });
    addEventListener("resize", look);
    return () => {
      removeEventListener("scroll", look);
      removeEventListener("resize", look);
    };
  }, [box, count, height]);
  return span;
}
