// How many jobs waited, by band, on the time axis of the chart above.

import { useEffect, useMemo, useState } from "preact/hooks";
import uPlot from "uplot";
import type { SeriesWire } from "../../../src/client/wire-live.ts";
import { jobs } from "../../../src/scheduler/wording.ts";
import { getJson, withQuery } from "../api.ts";
import { useCell, useSelected } from "../cell.ts";
import { epoch, status } from "../live/state.ts";
import { GUTTER_PX, RIGHT_PX } from "../parts/gantt.tsx";
import { Plot } from "../parts/plot.tsx";
import { BAND_GLYPH, BANDS } from "../parts/state-mark.tsx";
import { type Depth, depthData, depthOf, type Point, withPoint } from "./depth.ts";
import type { Window } from "./window.ts";

/** So many points are enough for any screen. */
const POINTS = 240;
const MINUTE_MS = 60_000;

export function DepthChart({ window, phone }: { readonly window: Window; readonly phone: boolean }) {
  const points = usePoints(window);
  const { fromMs, toMs, nowMs } = window;
  const current = useSelected(status, (value) => value?.queued ?? 0);
  const data = useMemo(() => depthData(points, fromMs, toMs, nowMs), [points, fromMs, toMs, nowMs]);
  return (
    <div class="depth">
      <span class="depth-name">Queue depth</span>
      <Plot
        id={`depth${phone}`}
        height={76}
        data={data as uPlot.AlignedData}
        label={`Queue depth over time, now ${jobs(current)}`}
        build={(css) => optionsOf(css, phone)}
      />
      <ul class="legend" aria-label="Bands">
        {BANDS.map((band) => (
          <li key={band}>
            <i class={`b-${band} glyph`} aria-hidden="true">
              {BAND_GLYPH[band]}
            </i>
            {band}
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Read from the router; the end of it is counted along, as often as the picture moves. */
function usePoints({ readFromMs, readToMs, fromMs, toMs, nowMs }: Window): readonly Point[] {
  const [points, setPoints] = useState<readonly Point[]>([]);
  const since = useCell(epoch);
  const stepMs = Math.max(60_000, Math.round((toMs - fromMs) / POINTS / 60_000) * 60_000);
  useEffect(() => {
    if (readFromMs <= 0 || since === 0) return;
    const abort = new AbortController();
    const { at = 0 } = status.value ?? {};
    const query = {
      name: "queue_depth",
      from_ms: Math.floor(readFromMs),
      to_ms: readToMs ?? Math.ceil(at * 1000),
      step_ms: stepMs,
    };
    getJson<SeriesWire>(withQuery("v1/series", query), abort.signal).then(
      (series) => setPoints(readToMs === null ? withNow(pointsOf(series)) : pointsOf(series)),
      () => undefined,
    );
    return () => abort.abort();
  }, [readFromMs, readToMs, stepMs, since]);
  useEffect(() => {
    if (readToMs === null) setPoints(withNow);
  }, [readToMs, nowMs]);
  return points;
}

/** A minute's figure is the most that waited in it, known when it is over; what waits now is known better. */
function withNow(points: readonly Point[]): readonly Point[] {
  const now = status.value;
  if (now === null) return points;
  const over = points.filter(({ atMs }) => atMs % MINUTE_MS !== 0 || atMs + MINUTE_MS <= now.at * 1000);
  return withPoint(over, { atMs: now.at * 1000, depth: depthOf(now.models) });
}

function pointsOf({ at_ms: at, interactive, normal, batch }: SeriesWire): Point[] {
  return at.map((atMs, index) => {
    const depth: Depth = [interactive[index] ?? 0, normal[index] ?? 0, batch[index] ?? 0];
    return { atMs, depth };
  });
}

function optionsOf(css: (token: string) => string, phone: boolean): Omit<uPlot.Options, "width" | "height"> {
  const stepped = uPlot.paths.stepped?.({ align: 1 });
  const area = (name: string): uPlot.Series => ({
    stroke: css(`--${name}`),
    fill: css(`--${name}-soft`),
    width: 1,
    points: { show: false },
    // A depth holds until it is another one.
    ...(stepped === undefined ? {} : { paths: stepped }),
  });
  return {
    padding: [6, phone ? 0 : RIGHT_PX, 6, 0],
    scales: {
      // From the data themselves, which begin and end at the picture's edges.
      x: { time: false, range: (plot) => [plot.data[0]?.[0] ?? 0, plot.data[0]?.at(-1) ?? 1] },
      y: { range: (_plot, _low, high) => [0, Math.max(4, (high ?? 0) * 1.1)] },
    },
    axes: [
      { show: false },
      {
        size: phone ? 34 : GUTTER_PX,
        gap: 6,
        font: "11px system-ui, sans-serif",
        stroke: css("--ink-3"),
        grid: { stroke: css("--line"), width: 1 },
        ticks: { show: false },
        splits: (_plot, _axis, _low, high) => {
          const step = [2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000].find((each) => high / each <= 2.6) ?? 10_000;
          return [0, step, 2 * step].filter((value) => value <= high);
        },
      },
    ],
    series: [{}, area("batch"), area("normal"), area("interactive")],
  };
}
