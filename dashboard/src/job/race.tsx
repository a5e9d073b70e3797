// The score race: the job's own model against whoever was ahead, on the time axis of the picture above it.

import { useMemo } from "preact/hooks";
import { score } from "../../../src/scheduler/wording.ts";
import { useLabels } from "../live/labels.ts";
import { GUTTER_PX, RIGHT_PX } from "../parts/gantt.tsx";
import { Plot } from "../parts/plot.tsx";
import { PHONE, useMedia } from "../parts/size.ts";
import { clock, clockMinutes } from "../parts/time.ts";
import type { RaceData } from "./race-data.ts";

const HEIGHT_PX = 130;
const NAMED = 3;
/** A shorter axis tells seconds. */
const SECONDS_BELOW_MS = 600_000;
const FONT = "11px Inter, system-ui, sans-serif";

interface RaceProps {
  readonly race: RaceData;
  readonly label: string;
  readonly fromMs: number;
  readonly toMs: number;
}

export function Race({ race, label, fromMs, toMs }: RaceProps) {
  const phone = useMedia(PHONE);
  const nameOf = useLabels();
  const rivals = race.rivals.map(nameOf);
  const names = rivals.length > NAMED ? `${rivals.slice(0, NAMED).join(", ")} and others` : rivals.join(", ");
  const ahead = names === "" ? "whoever was ahead" : names;
  const gutter = phone ? 48 : GUTTER_PX;
  const instant = toMs - fromMs < SECONDS_BELOW_MS ? clock : clockMinutes;
  const last = [race.own.findLast((value) => value !== null), race.winner.findLast((value) => value !== null)];
  // The edges of the axis are points without values, so that the chart shares the picture's axis.
  const data = useMemo(
    (): [number[], (number | null)[], (number | null)[]] => [
      [fromMs, ...race.atMs, toMs].map((ms) => ms / 1000),
      [null, ...race.own, null],
      [null, ...race.winner, null],
    ],
    [race, fromMs, toMs],
  );
  return (
    <div class="race">
      <p>
        <b>Score race.</b> <span class="stroke mine" aria-hidden="true" /> {label} (this job's model) against{" "}
        <span class="stroke theirs" aria-hidden="true" /> {ahead}. A swap needs the solid line above the dashed one, or
        the ceiling; minimum residency, a pin, a pause or jobs that still run can hold it back even then.
      </p>
      <Plot
        id={`race ${gutter} ${instant.name}`}
        height={HEIGHT_PX}
        data={data}
        label={`Scores over time: ${label} last at ${score(last[0] ?? 0)}, ${ahead} at ${score(last[1] ?? 0)}`}
        build={(css) => ({
          padding: [8, phone ? 0 : RIGHT_PX, 0, 0],
          scales: { x: { time: true, range: (plot) => [plot.data[0][0] ?? 0, plot.data[0].at(-1) ?? 1] } },
          axes: [
            {
              stroke: css("--ink-3"),
              font: FONT,
              grid: { stroke: css("--line"), width: 1 },
              ticks: { show: false },
              size: 24,
              space: 76,
              values: (_, splits) => splits.map((second) => instant(second * 1000)),
            },
            {
              size: gutter,
              stroke: css("--ink-3"),
              font: FONT,
              grid: { stroke: css("--line"), width: 1 },
              ticks: { show: false },
              values: (_, splits) => splits.map(score),
            },
          ],
          series: [
            {},
            { stroke: css("--accent"), width: 2.5, spanGaps: true, points: { show: false } },
            { stroke: css("--held"), width: 2, dash: [6, 4], spanGaps: true, points: { show: false } },
          ],
        })}
      />
    </div>
  );
}
