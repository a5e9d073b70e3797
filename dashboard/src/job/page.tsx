// The page of a job: why did this one take so long? The sentence, the bar, the picture, then the evidence.

import { useState } from "preact/hooks";
import type { ExplanationWire } from "../../../src/client/wire-explain.ts";
import type { ApiError } from "../api.ts";
import { useCell } from "../cell.ts";
import { AskCancel } from "../jobs/ask-cancel.tsx";
import { around, neighbours } from "../jobs/neighbours.ts";
import { CopyButton } from "../parts/copy-button.tsx";
import { Empty } from "../parts/panel.tsx";
import { StateMark } from "../parts/state-mark.tsx";
import { goTo, href, type Route } from "../route.ts";
import { useKeys } from "../typing.ts";
import { Facts } from "./facts.tsx";
import { JobDecisions } from "./job-decisions.tsx";
import "./job.css";
import { Meanwhile } from "./meanwhile.tsx";
import { useJob } from "./read-job.ts";
import { splitSummary } from "./summary.ts";
import { TimeSpent } from "./time-spent.tsx";

export function JobPage({ id }: { readonly id: string; readonly route: Route }) {
  const { explanation, row, error, reload } = useJob(id);
  const [asks, setAsks] = useState(false);
  const open = explanation?.final === false;
  useJobKeys(id, open ? () => setAsks(true) : null);
  if (explanation === null)
    return error === null ? <Loading id={id} /> : <Missing id={id} error={error} retry={reload} />;
  return (
    <>
      <Crumb id={id} />
      <section class="job-hero">
        <Summary told={explanation} />
        <div class="tools">
          <StateMark status={explanation.status} />
          {open && (
            <button type="button" class="button danger" onClick={() => setAsks(true)} aria-keyshortcuts="c">
              Cancel job
            </button>
          )}
          <CopyButton text={id} label="Copy id" shortcut="y" />
        </div>
      </section>
      {error !== null && (
        <p class="fault" role="alert">
          {error.message} This is what was known before.
        </p>
      )}
      <TimeSpent told={explanation} />
      <Meanwhile told={explanation} />
      <div class="two">
        <JobDecisions told={explanation} />
        <Facts told={explanation} row={row} />
      </div>
      {asks && open && (
        <AskCancel id={id} running={explanation.status === "in_progress"} close={() => setAsks(false)} />
      )}
    </>
  );
}

/** `c` cancels, `[` and `]` go through the list that the reader came from. */
function useJobKeys(id: string, cancel: (() => void) | null): void {
  useKeys((event) => {
    const { before, after } = around(neighbours.value, id);
    const next = event.key === "[" ? before : event.key === "]" ? after : null;
    if (next !== null) goTo(href(["jobs", next]));
    else if (event.key === "c" && cancel !== null) cancel();
    else return;
    event.preventDefault();
  });
}

function Crumb({ id }: { readonly id: string }) {
  const { before, after } = around(useCell(neighbours), id);
  return (
    <nav class="crumb" aria-label="Breadcrumb">
      <a href="#/jobs">Jobs</a>
      <span aria-hidden="true">/</span>
      <span class="mono">{id}</span>
      <span class="tools">
        {before !== null && (
          <a class="button" href={href(["jobs", before])} aria-keyshortcuts="[">
            ‹ Previous
          </a>
        )}
        {after !== null && (
          <a class="button" href={href(["jobs", after])} aria-keyshortcuts="]">
            Next ›
          </a>
        )}
      </span>
    </nav>
  );
}

function Summary({ told }: { readonly told: ExplanationWire }) {
  const { lead, rest } = splitSummary(told.summary);
  return (
    <div>
      <h1>
        <span>{lead}</span>
        {rest !== "" && ` ${rest}`}
      </h1>
      {told.expected !== null && <p class="expected">{told.expected.text}</p>}
      {told.partial && (
        <p class="note">
          The records that this was cut from are gone: the shares are exact, their order and the decisions are not kept.
        </p>
      )}
    </div>
  );
}

function Loading({ id }: { readonly id: string }) {
  return (
    <>
      <Crumb id={id} />
      <section class="job-hero" role="status" aria-label="Reading the job">
        <span class="ghost hero-ghost" />
      </section>
      <span class="ghost panel-ghost" />
      <span class="ghost panel-ghost" />
    </>
  );
}

function Missing({ id, error, retry }: { readonly id: string; readonly error: ApiError; retry(): void }) {
  if (error.status === 404)
    return (
      <>
        <Crumb id={id} />
        <h1>No such job</h1>
        <Empty title="There is no job of that name here.">
          <p>It may belong to another key, or it was removed after its time (jobs.resultTtlSeconds).</p>
          <a href="#/jobs">All jobs</a>
        </Empty>
      </>
    );
  return (
    <>
      <Crumb id={id} />
      <h1>The job could not be read</h1>
      <Empty title={error.message}>
        <button type="button" class="button" onClick={retry}>
          Try again
        </button>
      </Empty>
    </>
  );
}
