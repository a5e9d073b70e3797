// One model: its state, what it needs, how long its jobs waited, what loading it costs, and what can be done with it.

import type { ModelStatusWire } from "../../../src/client/wire-status.ts";
import { quantity } from "../../../src/scheduler/wording.ts";
import { useNow, useNowWhile } from "../clock.ts";
import { ageMs } from "../live/state.ts";
import { shortened } from "../parts/gantt-layout.ts";
import { clock, duration, moment } from "../parts/time.ts";
import { href } from "../route.ts";
import { LoadTime } from "./load-time.tsx";
import { ModelActs } from "./model-acts.tsx";
import { MODEL_STATE, modelState } from "./model-state.ts";

const NAME_LETTERS = 60;

export function ModelCard({ model }: { readonly model: ModelStatusWire }) {
  const { id, label, driver, pinned, pause } = model;
  const state = modelState(model);
  const name = `model-${id.replaceAll(/\W+/g, "-")}`;
  return (
    <li class="model" aria-labelledby={name}>
      <header>
        <h3 id={name} title={label}>
          {shortened(label, NAME_LETTERS)}
        </h3>
        <span class={`chip m-${state}`}>{MODEL_STATE[state]}</span>
        {pinned && <span class="chip win">pinned</span>}
        {pause !== null && pause.scope === "model" && <span class="chip bad">paused</span>}
      </header>
      <p class="mono dim">
        {id === label ? "" : `${id} · `}
        {driver}
      </p>
      <Facts model={model} />
      {model.wait_p50_seconds !== null && <p class="note">Waits: of jobs that began in the last hour.</p>}
      {model.homes.length > 0 && <LoadTime model={model} />}
      <Failures model={model} />
      {model.homes.length > 0 && <ModelActs model={model} />}
    </li>
  );
}

function Facts({ model }: { readonly model: ModelStatusWire }) {
  const { queued, memory_gib: memory, measured_gib: measured } = model;
  const waiting = queued.interactive + queued.normal + queued.batch;
  const now = useNowWhile(waiting > 0);
  const seconds = (value: number | null): string => (value === null ? "–" : duration(value * 1000));
  return (
    <dl class="facts tight">
      <div>
        <dt>Needs</dt>
        <dd title={measured === null ? "" : `Its last load was seen to take ${measured} GiB`}>
          {memory === null ? "the device" : `${memory}\u00a0GiB`}
        </dd>
      </div>
      <div>
        <dt>Slots</dt>
        <dd>
          {model.running}/{model.concurrency} busy
        </dd>
      </div>
      <div>
        <dt>Waiting</dt>
        <dd>
          {waiting === 0 ? "0" : <a href={href(["jobs"], { status: "queued", model: model.id })}>{waiting}</a>}
          {waiting > 0 && `, longest ${duration(ageMs(model, model.oldest_wait_seconds, now))}`}
        </dd>
      </div>
      <div>
        <dt>Device</dt>
        <dd>{model.homes.length === 0 ? "elsewhere" : model.homes.join(", ")}</dd>
      </div>
      <div>
        <dt title="Of the jobs that began in the last hour, half waited less">Median wait</dt>
        <dd>{seconds(model.wait_p50_seconds)}</dd>
      </div>
      <div>
        <dt title="Of the jobs that began in the last hour, 19 of 20 waited less">95 % wait</dt>
        <dd>{seconds(model.wait_p95_seconds)}</dd>
      </div>
    </dl>
  );
}

function Failures({ model }: { readonly model: ModelStatusWire }) {
  const now = useNow();
  const { failures } = model.loads;
  const [last] = failures;
  const retry = model.retry_at === null ? "" : ` Tried again at ${clock(model.retry_at * 1000)}.`;
  if (last === undefined) {
    if (model.last_error === null) return null;
    return (
      <p class="fault small">
        Its engine failed: <code>{model.last_error}</code>
        {retry}
      </p>
    );
  }
  return (
    <p class="fault small">
      {failures.length === 1 ? "A load failed" : `${quantity(failures.length, "load")} failed, the last`} at{" "}
      {moment(last.at * 1000, now)}: <code>{last.error}</code>
      {retry}
    </p>
  );
}
