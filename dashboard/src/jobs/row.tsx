// One job in the list: a line of nine cells, or a card on a phone. Drawn again only when its row is another object, or
// once a second while it waits or runs.

import { useNowWhile } from "../clock.ts";
import { titleOfCause } from "../parts/cause.ts";
import { memo } from "../parts/memo.tsx";
import { BandMark, StateMark } from "../parts/state-mark.tsx";
import { duration, moment } from "../parts/time.ts";
import { WaitBar } from "../parts/wait-bar.tsx";
import { href } from "../route.ts";
import { grown, isOver, type ReadRow } from "./rows.ts";

interface RowProps {
  readonly row: ReadRow;
  /** Of its model. */
  readonly label: string;
  readonly index: number;
  readonly topPx: number;
  readonly tabStop: boolean;
  readonly longestMs: number;
  onFocus(id: string): void;
  cancel(row: ReadRow): void;
}

const HEAD = 8;
const TAIL = 4;

/** `job_019a…3f2c`: ids of one minute differ at their ends. */
export function shortId(id: string): string {
  return id.length <= HEAD + TAIL + 1 ? id : `${id.slice(0, HEAD)}…${id.slice(-TAIL)}`;
}

function Opener({ row, index, tabStop, onFocus }: RowProps) {
  return (
    <a
      data-at={index}
      href={href(["jobs", row.id])}
      tabIndex={tabStop ? 0 : -1}
      title={row.id}
      onFocus={() => onFocus(row.id)}
    >
      {shortId(row.id)}
    </a>
  );
}

export const JobLine = memo(function JobLine(props: RowProps) {
  const { row, label, index, topPx, longestMs, cancel } = props;
  const now = useNowWhile(!isOver(row));
  const shown = isOver(row) ? row : grown(row, now);
  return (
    // biome-ignore lint/a11y/useSemanticElements lint/a11y/useFocusableInteractive: see the list
    <div class="job-row" role="row" aria-rowindex={index + 2} style={{ top: `${topPx}px` }}>
      {/* biome-ignore-start lint/a11y/useSemanticElements: see the list */}
      <span role="cell">{moment(row.created_at * 1000, now)}</span>
      <span role="cell" class="mono">
        <Opener {...props} />
      </span>
      <span role="cell" class="cut" title={row.model}>
        {label}
      </span>
      <span role="cell">
        <BandMark band={row.band} />
      </span>
      <span role="cell" class="dim cut" title={row.caller ?? ""}>
        {row.caller ?? "–"}
      </span>
      <span role="cell">
        <StateMark status={row.status} />
      </span>
      <span role="cell">
        <WaitBar parts={shown.parts} titleOf={titleOfCause} longestMs={longestMs} />
      </span>
      <span role="cell" class="num">
        {duration(shown.wait_ms)}
      </span>
      <span role="cell" class="num dim">
        {row.started_at === null ? "" : duration(shown.run_ms)}
        {!isOver(row) && <CancelButton row={row} cancel={cancel} />}
      </span>
      {/* biome-ignore-end lint/a11y/useSemanticElements: see the list */}
    </div>
  );
});

export const JobCard = memo(function JobCard(props: RowProps) {
  const { row, label, index, topPx, longestMs } = props;
  const now = useNowWhile(!isOver(row));
  const shown = isOver(row) ? row : grown(row, now);
  return (
    // biome-ignore lint/a11y/useSemanticElements lint/a11y/useFocusableInteractive: see the list
    <div class="job-card" role="row" aria-rowindex={index + 2} style={{ top: `${topPx}px` }}>
      {/* biome-ignore-start lint/a11y/useSemanticElements: see the list */}
      <span role="cell" class="cut">
        <b>{label}</b>
      </span>
      <span role="cell" class="card-band">
        <BandMark band={row.band} />
      </span>
      <span role="cell" class="dim cut">
        {moment(row.created_at * 1000, now)} · <Opener {...props} />
        {row.caller === null ? "" : ` · ${row.caller}`}
      </span>
      <span role="cell" class="card-state">
        <StateMark status={row.status} />
      </span>
      <span role="cell">
        waited {duration(shown.wait_ms)}
        {row.started_at === null ? "" : `, ran ${duration(shown.run_ms)}`}
      </span>
      <span role="cell" class="card-bar">
        <WaitBar parts={shown.parts} titleOf={titleOfCause} longestMs={longestMs} />
      </span>
      {/* biome-ignore-end lint/a11y/useSemanticElements: see the list */}
    </div>
  );
});

/** For the pointer; with the keyboard it is `c` on the row. */
function CancelButton({ row, cancel }: Pick<RowProps, "row" | "cancel">) {
  return (
    <button type="button" class="row-act" tabIndex={-1} aria-label={`Cancel ${row.id}`} onClick={() => cancel(row)}>
      ✕
    </button>
  );
}
