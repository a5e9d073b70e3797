// Cancels all jobs that match the filters, once the reader has typed how many they are.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { CancelOutcomeWire } from "../../../src/client/wire-live.ts";
import { cancelSentence, jobs, thousands } from "../../../src/scheduler/wording.ts";
import { ApiError } from "../api.ts";
import { filterWords, type JobFilters } from "./filters.ts";
import { type Counted, cancelAll, countMatching, MOST } from "./matching.ts";

type Step =
  | { readonly at: "counting"; readonly found: number }
  | { readonly at: "asking"; readonly counted: Counted }
  | { readonly at: "acting" | "done"; readonly of: number; readonly outcomes: readonly CancelOutcomeWire["outcome"][] };

export function CancelMatching({ filters, close }: { readonly filters: JobFilters; close(): void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const leave = useRef(new AbortController());
  const [step, setStep] = useState<Step>({ at: "counting", found: 0 });
  const [fault, setFault] = useState<string | null>(null);
  const failed = (error: unknown): void => {
    if (!leave.current.signal.aborted) setFault(error instanceof ApiError ? error.message : String(error));
  };
  useEffect(() => {
    dialog.current?.showModal();
    const { signal } = leave.current;
    countMatching(filters, signal, (found) => setStep({ at: "counting", found })).then(
      (counted) => setStep({ at: "asking", counted }),
      failed,
    );
    return () => leave.current.abort();
  }, []);
  const go = ({ ids }: Counted): void => {
    const of = ids.length;
    let outcomes: readonly CancelOutcomeWire["outcome"][] = [];
    setStep({ at: "acting", of, outcomes });
    void cancelAll(ids, leave.current.signal, (all) => {
      outcomes = all;
      setStep({ at: "acting", of, outcomes });
    })
      .catch(failed)
      .then(() => setStep({ at: "done", of, outcomes }));
  };
  return (
    <dialog ref={dialog} class="confirm" onClose={close} aria-labelledby="h-matching">
      <h2 id="h-matching">{step.at === "done" ? "What became of them" : "Cancel all matching jobs?"}</h2>
      {step.at === "asking" && <Asking filters={filters} counted={step.counted} go={go} />}
      {step.at !== "asking" && (
        <p role="status" class="note">
          {progressOf(step)}
        </p>
      )}
      {fault !== null && (
        <p class="fault" role="alert">
          {fault}
        </p>
      )}
      <div class="tools">
        <button
          type="button"
          class="button"
          onClick={() => (step.at === "acting" ? leave.current.abort() : dialog.current?.close())}
        >
          {step.at === "done" ? "Close" : step.at === "acting" ? "Stop" : "Keep them"}
        </button>
      </div>
    </dialog>
  );
}

function progressOf(step: Exclude<Step, { at: "asking" }>): string {
  if (step.at === "counting") return `Counting: ${jobs(step.found)} so far.`;
  const left = step.of - step.outcomes.length;
  if (step.at === "acting") return `Cancelling: ${jobs(left)} of ${thousands(step.of)} to go.`;
  return `${cancelSentence(step.outcomes)}${left === 0 ? "" : ` ${jobs(left)} ${left === 1 ? "is" : "are"} as before.`}`;
}

interface AskingProps {
  readonly filters: JobFilters;
  readonly counted: Counted;
  go(counted: Counted): void;
}

function Asking({ filters, counted, go }: AskingProps) {
  const { ids, running, cut } = counted;
  const [typed, setTyped] = useState("");
  const field = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => field.current?.focus(), []);
  if (ids.length === 0) return <p>None that matches waits or runs.</p>;
  const words = filterWords({ ...filters, status: "" });
  const one = ids.length === 1;
  const meant = typed.replace(/[\s,.]/g, "") === String(ids.length);
  const send = (event: Event): void => {
    event.preventDefault();
    if (meant) go(counted);
  };
  return (
    <form onSubmit={send}>
      <p>
        {cut && `More than ${thousands(MOST)} match; these are the newest. `}
        {jobs(ids.length)} that {waitOrRun(filters.status, one)}
        {words !== "" && ` (${words})`} {one ? "is" : "are"} cancelled, and{" "}
        {one ? "its caller is" : "their callers are"} told.
        {running > 0 &&
          ` ${thousands(running)} of them ${running === 1 ? "runs" : "run"}: what is written so far is lost.`}{" "}
        This cannot be taken back.
      </p>
      <label for="matching-count">
        Type <b>{ids.length}</b> to say that you mean it
      </label>
      <div class="tools">
        <input
          id="matching-count"
          ref={field}
          type="text"
          inputMode="numeric"
          autocomplete="off"
          value={typed}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
        <button type="submit" class="button danger" disabled={!meant}>
          Cancel {jobs(ids.length)}
        </button>
      </div>
    </form>
  );
}

function waitOrRun(status: JobFilters["status"], one: boolean): string {
  if (status === "queued") return one ? "waits" : "wait";
  if (status === "in_progress") return one ? "runs" : "run";
  return one ? "waits or runs" : "wait or run";
}
