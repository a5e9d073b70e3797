// The page "What if": what would other settings have done with this very traffic? The verdict is a sentence that names the
// losers; the figures, the pictures and how far to trust them stand below.

import { useRef } from "preact/hooks";
import type { ReplayChoicesWire, ReplayWire } from "../../../src/client/wire-live.ts";
import type { ReplayReport } from "../../../src/client/wire-replay.ts";
import type { ApiError } from "../api.ts";
import { useNow } from "../clock.ts";
import { useLabels } from "../live/labels.ts";
import { useLoaded } from "../parts/loaded.ts";
import { Empty, Panel, Segmented } from "../parts/panel.tsx";
import { moment } from "../parts/time.ts";
import { type Route, setQuery } from "../route.ts";
import { Charts } from "./charts.tsx";
import { Distribution } from "./distribution.tsx";
import { sidesOf } from "./report.ts";
import { type Run, useRun } from "./run.ts";
import { BandTable, ModelTable, MovedTable } from "./tables.tsx";
import { Presets, TryPanel } from "./try-panel.tsx";
import { isThin, trustWords, verdictOf } from "./verdict.ts";
import "./what-if.css";
import { DEFAULT_HOURS, RANGES, readWish, setText, type Wish } from "./wish.ts";

export function WhatIfPage({ route }: { readonly route: Route }) {
  const { data: choices, error, reload } = useLoaded<ReplayChoicesWire>("v1/replays");
  const now = useNow();
  // When the page was opened: the range must not run away from its result.
  const openedMs = useRef(0);
  if (openedMs.current === 0) openedMs.current = now;
  const ready = choices !== null && openedMs.current > 0;
  const wish = ready ? readWish(route.query, choices.span, openedMs.current) : null;
  const run = useRun(choices?.span == null ? null : wish, choices);
  if (choices === null && error !== null) return <Unavailable error={error} retry={reload} />;
  return (
    <>
      <header class="page-head">
        <h1>What if</h1>
        {wish !== null && <p>{rangeWords(wish, now, run.result)}</p>}
      </header>
      {choices?.span === null ? (
        <NothingRecorded />
      ) : choices === null || wish === null ? (
        <span class="ghost panel-ghost" role="status" aria-label="Reading" />
      ) : (
        <Tried choices={choices} wish={wish} run={run} route={route} />
      )}
    </>
  );
}

interface TriedProps {
  readonly choices: ReplayChoicesWire;
  readonly wish: Wish;
  readonly run: Run;
  readonly route: Route;
}

function Tried({ choices, wish, run, route }: TriedProps) {
  const { state, result } = run;
  const fixed = route.query.get("from") !== null;
  const refusal = state.at === "refused" ? state.error.message : null;
  const change = ({ policy, set }: Pick<Wish, "policy" | "set">): void => setQuery({ policy, set: setText(set) });
  return (
    <>
      <div class="tools">
        <Segmented
          label="Traffic of the last"
          value={fixed ? "" : (route.query.get("hours") ?? DEFAULT_HOURS)}
          options={RANGES}
          onChange={(hours) => setQuery({ hours: hours === DEFAULT_HOURS ? null : hours, from: null, to: null })}
        />
        {fixed && <span class="chip">a stretch that was chosen elsewhere</span>}
      </div>
      <Presets choices={choices} wish={wish} change={change} />
      <div class="what-if">
        <TryPanel choices={choices} wish={wish} refusal={refusal} change={change} />
        <div class="what-if-result">
          <RunLine run={run} />
          {result !== null && refusal === null && <Result replay={result} stale={state.at !== "done"} />}
          {result === null && (state.at === "running" || state.at === "busy") && <span class="ghost panel-ghost" />}
        </div>
      </div>
      {result !== null && refusal === null && <Evidence replay={result} stale={state.at !== "done"} />}
    </>
  );
}

interface ResultProps {
  readonly replay: ReplayWire;
  /** Another is being computed. */
  readonly stale: boolean;
}

function Result({ replay, stale }: ResultProps) {
  const labelOf = useLabels();
  const report = replay.report as unknown as ReplayReport;
  const sides = sidesOf(report);
  if (sides === null) return null;
  return (
    <div class={`what-if-figures${stale ? " stale" : ""}`} aria-busy={stale}>
      <p class="verdict" aria-live="polite">
        {verdictOf(report, labelOf)}
      </p>
      {report.fidelity !== null && (
        <p class={report.fidelity.faithful ? "note" : "thin"} data-faithful={report.fidelity.faithful}>
          {trustWords(report.fidelity)}:{" "}
          {report.fidelity.sentence.replace(": NOT faithful, read the rest with doubt", "")}.
        </p>
      )}
      {isThin(report) && (
        <p class="thin">
          Only {report.jobs === 1 ? "1 job" : `${report.jobs} jobs`} in this stretch: too few to conclude anything. Come
          back later, choose a longer stretch, or make traffic up with <code>sir simulate</code>.
        </p>
      )}
      <Panel title="As it ran → as it would have been" id="h-waits">
        <BandTable sides={sides} />
        {replay.waits !== null && <Distribution waits={replay.waits} />}
      </Panel>
    </div>
  );
}

function Evidence({ replay, stale }: ResultProps) {
  const labelOf = useLabels();
  const report = replay.report as unknown as ReplayReport;
  const sides = sidesOf(report);
  if (sides === null) return null;
  return (
    <div class={`evidence${stale ? " stale" : ""}`}>
      <Charts replay={replay} />
      <div class="two">
        <ModelTable sides={sides} labelOf={labelOf} />
        <MovedTable sides={sides} labelOf={labelOf} />
      </div>
      <Trust report={report} />
    </div>
  );
}

function Trust({ report }: { readonly report: ReplayReport }) {
  const { notes } = report;
  return (
    <Panel title="What the replay leaves out" id="h-trust">
      <ul class="trust">
        {notes.map((note) => (
          <li key={note}>{note}</li>
        ))}
        <li>
          One stretch is little evidence, and callers may ask differently when answers come sooner.{" "}
          <code>sir tune</code> looks at days.
        </li>
      </ul>
    </Panel>
  );
}

/** What is going on, in one line of a fixed height, so that nothing jumps. */
function RunLine({ run }: { readonly run: Run }) {
  const { state, cancel, again } = run;
  if (state.at === "refused")
    return (
      <div class="refusal" role="alert">
        <b>{state.error.status === 400 ? "The configuration would refuse this." : "No answer."}</b>
        <p>{state.error.message}</p>
        {state.error.status !== 400 && (
          <button type="button" class="button" onClick={again}>
            Try again
          </button>
        )}
      </div>
    );
  if (state.at === "done") return null;
  return (
    <div class="run-line">
      {state.at === "running" && (
        <>
          <label for="progress">{state.progress < 1 ? "Replaying …" : "Letting the last jobs finish …"}</label>
          {/* How long those take is not known: the bar goes to and fro. */}
          <progress key={String(state.progress < 1)} id="progress" {...progressOf(state.progress)} />
          {state.progress < 1 && <span class="num">{Math.round(state.progress * 100)} %</span>}
          <button type="button" class="button" onClick={cancel}>
            Cancel
          </button>
        </>
      )}
      {state.at === "busy" && (
        <>
          <span>Somebody else's replay runs; there is one at a time. Waiting for it …</span>
          <button type="button" class="button" onClick={cancel}>
            Do not wait
          </button>
        </>
      )}
      {state.at === "stopped" && (
        <>
          <span>Cancelled.</span>
          <button type="button" class="button" onClick={again}>
            Run it again
          </button>
        </>
      )}
    </div>
  );
}

function rangeWords({ fromMs, toMs }: Wish, now: number, result: ReplayWire | null): string {
  const jobs = (result?.report as unknown as ReplayReport | undefined)?.jobs;
  const counted = jobs === undefined ? "" : `: ${jobs === 1 ? "1 job" : `${jobs} jobs`}`;
  return `Traffic from ${moment(fromMs, now)} to ${moment(toMs, now)}${counted}`;
}

function NothingRecorded() {
  return (
    <Empty title="Nothing is recorded yet.">
      <p>
        What-if replays real traffic. Come back once some fifty jobs are done, or try rules on made traffic:{" "}
        <code>npx sir simulate list</code>
      </p>
    </Empty>
  );
}

function Unavailable({ error, retry }: { readonly error: ApiError; retry(): void }) {
  return (
    <>
      <h1>What if</h1>
      <Empty title={error.status === 403 ? "This key may not replay traffic." : error.message}>
        {error.status === 403 ? (
          <p>{error.message}</p>
        ) : (
          <button type="button" class="button" onClick={retry}>
            Try again
          </button>
        )}
      </Empty>
    </>
  );
}

const progressOf = (share: number): { readonly max?: number; readonly value?: number } =>
  share < 1 ? { max: 1, value: share } : {};
