// What waits, by model and band: how long, why, and when the first and the last of it are expected to start.

import type { ModelStatusWire } from "../../../src/client/wire-status.ts";
import { jobs } from "../../../src/scheduler/wording.ts";
import { useSelected } from "../cell.ts";
import { useNow } from "../clock.ts";
import { ageMs, status } from "../live/state.ts";
import { titleOfCause } from "../parts/cause.ts";
import { shortened } from "../parts/gantt-layout.ts";
import { memo } from "../parts/memo.tsx";
import { Panel } from "../parts/panel.tsx";
import { BAND_GLYPH, BANDS } from "../parts/state-mark.tsx";
import { clockMinutes, duration } from "../parts/time.ts";
import { href } from "../route.ts";

const NAME_LETTERS = 40;

const waitingOf = ({ queued }: ModelStatusWire): number => queued.interactive + queued.normal + queued.batch;

export function QueuePanel() {
  const models = useSelected(status, (value) => value?.models ?? null);
  const all = <a href={href(["jobs"], { status: "queued" })}>All waiting jobs</a>;
  return (
    <Panel title="What waits" id="h-queue" aside={all}>
      {models === null ? <span class="ghost tall" /> : <Queue models={models} />}
    </Panel>
  );
}

function Queue({ models }: { readonly models: readonly ModelStatusWire[] }) {
  const busy = models.filter((model) => waitingOf(model) > 0).toSorted((a, b) => waitingOf(b) - waitingOf(a));
  if (busy.length === 0) return <p class="quiet-line">Nothing waits.</p>;
  const most = Math.max(...busy.map(waitingOf));
  const quiet = models.length - busy.length;
  return (
    <>
      <table class="data queue">
        <thead>
          <tr>
            <th scope="col">Model</th>
            <th scope="col">Waiting</th>
            <th scope="col" class="num">
              Oldest
            </th>
            <th scope="col" class="num">
              Slots
            </th>
            <th scope="col">First start</th>
          </tr>
        </thead>
        <tbody>
          {busy.map((model) => (
            <QueueRow key={model.id} model={model} most={most} />
          ))}
        </tbody>
      </table>
      {quiet > 0 && (
        <p class="quiet-line">
          {quiet === 1 ? "Nothing waits for the other model." : `Nothing waits for the other ${quiet} models.`}
        </p>
      )}
    </>
  );
}

const QueueRow = memo(function QueueRow({ model, most }: { readonly model: ModelStatusWire; readonly most: number }) {
  const now = useNow();
  const waiting = waitingOf(model);
  const { first, more } = startOf(model, now);
  return (
    <tr>
      <td>
        <a href={href(["jobs"], { status: "queued", model: model.id })} title={model.id}>
          {shortened(model.label, NAME_LETTERS)}
        </a>
        <small>{model.waiting === null ? "" : titleOfCause(model.waiting.cause)}</small>
      </td>
      <td>
        <span class="stack" style={{ width: `${Math.max(24, (100 * waiting) / most)}%` }}>
          {BANDS.filter((band) => model.queued[band] > 0).map((band) => (
            <span
              key={band}
              class={`b-${band}`}
              style={{ flexGrow: model.queued[band] }}
              title={`${jobs(model.queued[band])}, ${band}`}
            >
              <i aria-hidden="true">{BAND_GLYPH[band]}</i>
              {model.queued[band]}
              <span class="sr"> {band}</span>
            </span>
          ))}
        </span>
      </td>
      <td class="num">{duration(ageMs(model, model.oldest_wait_seconds, now))}</td>
      <td class="num">
        {model.running}/{model.concurrency}
      </td>
      <td>
        {first}
        {more !== "" && <small>{more}</small>}
      </td>
    </tr>
  );
});

/** When its first waiting job begins, and what else is known. A bound is said to be one. */
function startOf(model: ModelStatusWire, nowMs: number): { readonly first: string; readonly more: string } {
  const { starts } = model;
  const last = starts?.last ?? null;
  const lastText = last === null ? "" : `last at about ${clockMinutes(last * 1000)}`;
  const loading = model.waiting?.cause === "loading";
  if (starts?.mid != null) {
    const inMs = starts.mid * 1000 - nowMs;
    const first =
      inMs < 90_000 ? `in about ${duration(Math.max(1000, inMs))}` : `at about ${clockMinutes(starts.mid * 1000)}`;
    return { first, more: [loading ? "loading now" : "", lastText].filter(Boolean).join(", ") };
  }
  if (loading) return { first: "when it is loaded", more: "loading now" };
  if (starts?.bound != null) {
    return { first: `by ${clockMinutes(starts.bound * 1000)}`, more: "at the latest, with every drain at its longest" };
  }
  if (model.waiting?.cause === "own_queue") return { first: "when a slot is free", more: lastText };
  return { first: "not known yet", more: lastText };
}
