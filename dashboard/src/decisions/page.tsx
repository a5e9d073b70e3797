// The page "Decisions": what was decided, with which numbers? A list and the one that is chosen, side by side; one at a
// time where there is no room for both.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { DecisionWire } from "../../../src/client/wire.ts";
import type { StatusWire } from "../../../src/client/wire-status.ts";
import { useSelected } from "../cell.ts";
import { useNow } from "../clock.ts";
import { status } from "../live/state.ts";
import { Empty, Segmented } from "../parts/panel.tsx";
import { useMedia } from "../parts/size.ts";
import { moment } from "../parts/time.ts";
import { goTo, href, type Route, setQuery } from "../route.ts";
import { useKeys } from "../typing.ts";
import "./decisions.css";
import { DecisionDetail } from "./detail.tsx";
import { KINDS, readDecisionFilters } from "./filters.ts";
import { KindChip } from "./kind-chip.tsx";
import { type DecisionsRead, useDecisions } from "./read-decisions.ts";

const NARROW = "(max-width: 1000px)";
const AT_TOP_PX = 40;

export function DecisionsPage({ route }: { readonly route: Route }) {
  const filters = readDecisionFilters(route.query);
  const narrow = useMedia(NARROW);
  const scroller = useRef<HTMLDivElement>(null);
  const atTop = (): boolean => (scroller.current?.scrollTop ?? 0) < AT_TOP_PX && (!narrow || scrollY < AT_TOP_PX);
  const read = useDecisions(filters, atTop);
  const { list } = read;
  const asked = route.path[1] ?? null;
  const first = useFirst(list, JSON.stringify(filters));
  const id = asked ?? (narrow ? null : first);
  const at = list.findIndex((each) => each.id === id);
  const placeOf = (other: string): string => href(["decisions", other], Object.fromEntries(route.query));
  useDecisionKeys(list, at, placeOf);
  useEffect(() => {
    if (!narrow || asked === null) return;
    document.getElementById("main")?.focus({ preventScroll: true });
    scrollTo(0, 0);
  }, [narrow, asked]);
  const detail = id !== null && (
    <DecisionDetail
      id={id}
      known={list[at] ?? null}
      earlier={at === -1 ? null : (list[at + 1]?.id ?? null)}
      later={at === -1 ? null : (list[at - 1]?.id ?? null)}
      placeOf={placeOf}
    />
  );
  if (narrow && id !== null)
    return (
      <>
        <h1 class="sr">Decisions</h1>
        <a href={href(["decisions"], Object.fromEntries(route.query))}>‹ All decisions</a>
        {detail}
      </>
    );
  return (
    <>
      <header class="page-head">
        <h1>Decisions</h1>
        <p>What was loaded, kept or swapped, and with which numbers</p>
      </header>
      <Filters filters={filters} />
      <div class="decisions">
        <div class="decisions-list" ref={scroller}>
          <List read={read} chosen={id} placeOf={placeOf} toTop={() => scroller.current?.scrollTo({ top: 0 })} />
        </div>
        {!narrow && <div class="decisions-detail">{detail || null}</div>}
      </div>
    </>
  );
}

/** What is shown while nothing is chosen: the newest when the page was opened. Newer ones do not take its place. */
function useFirst(list: readonly DecisionWire[], key: string): string | null {
  const [first, setFirst] = useState<{ readonly key: string; readonly id: string } | null>(null);
  const newest = list[0]?.id;
  useEffect(() => {
    if (newest !== undefined && first?.key !== key) setFirst({ key, id: newest });
  }, [newest, key, first]);
  return first?.key === key ? first.id : null;
}

function Filters({ filters }: { readonly filters: ReturnType<typeof readDecisionFilters> }) {
  const devices = useSelected(status, devicesOf) ?? [];
  return (
    <div class="filters">
      <Segmented
        label="Kind"
        value={filters.kind}
        options={KINDS}
        onChange={(kind) => setQuery({ kind: kind === "moves" ? null : kind })}
      />
      {devices.length > 1 && (
        <Segmented
          label="Device"
          value={filters.device}
          options={[["", "Every device"], ...devices.map(({ id }) => [id, id] as const)]}
          onChange={(device) => setQuery({ device })}
        />
      )}
    </div>
  );
}

const devicesOf = (now: StatusWire | null): StatusWire["devices"] | null => now?.devices ?? null;

/** `j` and `k` or `[` and `]` go through the list; the focus follows inside of it. */
function useDecisionKeys(list: readonly DecisionWire[], at: number, placeOf: (id: string) => string): void {
  useKeys((event) => {
    const inList = document.activeElement?.closest(".decisions-list") != null;
    const down = event.key === "j" || event.key === "[" || (inList && event.key === "ArrowDown");
    const up = event.key === "k" || event.key === "]" || (inList && event.key === "ArrowUp");
    const next = list[down ? at + 1 : at - 1];
    if ((!down && !up) || next === undefined) return;
    event.preventDefault();
    goTo(placeOf(next.id));
  });
}

interface ListProps {
  readonly read: DecisionsRead;
  readonly chosen: string | null;
  placeOf(id: string): string;
  toTop(): void;
}

function List({ read, chosen, placeOf, toTop }: ListProps) {
  const { list, fresh, hasMore, state, more, show } = read;
  const now = useNow();
  const box = useRef<HTMLOListElement>(null);
  const chosenShown = list.some(({ id }) => id === chosen);
  useLayoutEffect(() => {
    const link = box.current?.querySelector<HTMLElement>("[aria-current]");
    link?.scrollIntoView({ block: "nearest" });
    if (box.current?.contains(document.activeElement) === true) link?.focus({ preventScroll: true });
  }, [chosen]);
  return (
    <>
      {fresh > 0 && (
        <button
          type="button"
          class="button primary pill"
          onClick={() => {
            show();
            toTop();
          }}
        >
          {fresh} new
        </button>
      )}
      <ol ref={box} class="decision-rows" aria-label="Decisions, newest first">
        {list.map((decision, i) => {
          const current = decision.id === chosen;
          return (
            <li key={decision.id}>
              <a
                href={placeOf(decision.id)}
                aria-current={current ? "true" : undefined}
                tabIndex={current || (!chosenShown && i === 0) ? 0 : -1}
              >
                <time>{moment(decision.at * 1000, now)}</time>
                <KindChip kind={decision.kind} reason={decision.reason} />
                <span>
                  <b>{decision.device}</b> {decision.sentence}
                  {decision.times > 1 && <small> {decision.times} looks</small>}
                </span>
              </a>
            </li>
          );
        })}
      </ol>
      {state instanceof Error && (
        <p class="rest fault" role="alert">
          {state.message}
        </p>
      )}
      {state === "loading" && list.length === 0 && (
        <span class="ghost panel-ghost" role="status" aria-label="Reading" />
      )}
      {state === "ready" && list.length === 0 && (
        <Empty title="None of this kind yet.">Decisions are kept for seven days.</Empty>
      )}
      {hasMore && list.length > 0 && (
        <div class="rest">
          <button type="button" class="button" onClick={() => state !== "loading" && more()}>
            {state === "loading" ? "Reading …" : "Load more"}
          </button>
        </div>
      )}
    </>
  );
}
