// The Gantt chart's content as a table, for those who would rather read than look.

import type { PauseRow, SpanRow } from "../../../src/client/wire-live.ts";
import type { LaneDevice } from "./gantt-layout.ts";
import { pauseWords } from "./pause-words.ts";
import { PHASE_CLASS, PHASES } from "./phase.ts";
import { clock, duration } from "./time.ts";

/** More are not read by anybody. */
const MOST_ROWS = 200;

interface GanttTableProps {
  readonly devices: readonly LaneDevice[];
  readonly spans: readonly SpanRow[];
  readonly pauses?: readonly PauseRow[];
  readonly fromMs: number;
  readonly nowMs: number;
}

export function GanttTable({ devices, spans, pauses = [], fromMs, nowMs }: GanttTableProps) {
  const labels = new Map(devices.flatMap(({ models }) => models.map(({ id, label }) => [id, label])));
  const rows = spans
    .filter(([, , , , toMs]) => toMs === null || toMs > fromMs)
    .toSorted((a, b) => b[3] - a[3])
    .slice(0, MOST_ROWS);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
    <section class="scroll" tabIndex={0} aria-label="What each model did, newest first">
      <table class="data">
        <thead>
          <tr>
            <th scope="col">Device</th>
            <th scope="col">Model</th>
            <th scope="col">State</th>
            <th scope="col" class="num">
              From
            </th>
            <th scope="col" class="num">
              To
            </th>
            <th scope="col" class="num">
              Lasted
            </th>
          </tr>
        </thead>
        <tbody>
          {pauses
            .filter(([, endMs]) => endMs === null || endMs > fromMs)
            .toReversed()
            .map(([startMs, endMs, device, who, note]) => (
              <tr key={`${device}${startMs}`}>
                <td>{device ?? "every device"}</td>
                <td colSpan={2}>
                  <i class="key c-paused" aria-hidden="true" />
                  {pauseWords({ who, note })}
                </td>
                <Times startMs={startMs} endMs={endMs} nowMs={nowMs} />
              </tr>
            ))}
          {rows.map(([device, model, phase, startMs, endMs]) => (
            <tr key={`${device}${model}${phase}${startMs}`}>
              <td>{device}</td>
              <td>{labels.get(model) ?? model}</td>
              <td>
                <i class={`key ${PHASE_CLASS[phase]}`} aria-hidden="true" />
                {PHASES[phase]}
              </td>
              <Times startMs={startMs} endMs={endMs} nowMs={nowMs} />
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

interface TimesProps {
  readonly startMs: number;
  readonly endMs: number | null;
  readonly nowMs: number;
}

function Times({ startMs, endMs, nowMs }: TimesProps) {
  return (
    <>
      <td class="num">{clock(startMs)}</td>
      <td class="num">{endMs === null ? "now" : clock(endMs)}</td>
      <td class="num">{duration((endMs ?? nowMs) - startMs)}</td>
    </>
  );
}
