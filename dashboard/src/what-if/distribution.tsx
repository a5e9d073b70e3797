// Which share of the jobs had started after so long, both ways, on a logarithmic axis.

import type { WaitDistributionWire } from "../../../src/client/wire-live.ts";
import { percent } from "../../../src/scheduler/wording.ts";
import { Plot } from "../parts/plot.tsx";
import { duration } from "../parts/time.ts";

const HEIGHT_PX = 210;
const FONT = "11px Inter, system-ui, sans-serif";
const TICKS = [0.1, 1, 10, 60, 300, 1200, 3600, 14_400, 43_200, 172_800];
const SPOKEN_SECONDS = 60;

export function Distribution({ waits }: { readonly waits: WaitDistributionWire }) {
  const { seconds, before, after } = waits;
  const shares = (column: readonly number[]): number[] => column.map((share) => share * 100);
  const data: [number[], number[], number[]] = [[...seconds], shares(before), shares(after ?? before)];
  const within = (column: readonly number[]): string => {
    const at = seconds.findLastIndex((each) => each <= SPOKEN_SECONDS);
    return percent(column[Math.max(0, at)] ?? 0);
  };
  const said = after === null ? "" : `, ${within(after)} with the other settings`;
  return (
    <div class="distribution">
      <p>
        Share of all jobs that had started after …{" "}
        <span class="nowrap">
          <span class="stroke theirs" aria-hidden="true" /> as it ran
        </span>{" "}
        {after !== null && (
          <span class="nowrap">
            <span class="stroke" aria-hidden="true" /> with the other settings
          </span>
        )}
      </p>
      <Plot
        id={`waits ${after === null}`}
        height={HEIGHT_PX}
        data={data}
        label={`Share of jobs that had started within a minute: ${within(before)} as it ran${said}`}
        build={(css) => ({
          scales: {
            x: { time: false, distr: 3, range: (plot) => [plot.data[0][0] ?? 0.1, plot.data[0].at(-1) ?? 1] },
            y: { range: (_, least) => [Math.max(0, Math.floor(least / 10) * 10 - 5), 101] },
          },
          axes: [
            {
              size: 26,
              splits: (plot) => TICKS.filter((tick) => tick <= (plot.data[0].at(-1) ?? 1)),
              filter: (_, splits) => splits,
              values: (_, splits) => splits.map((tick) => duration(tick * 1000)),
              stroke: css("--ink-3"),
              font: FONT,
              grid: { stroke: css("--line"), width: 1 },
              ticks: { show: false },
            },
            {
              size: 48,
              values: (_, splits) => splits.map((share) => `${share} %`),
              stroke: css("--ink-3"),
              font: FONT,
              grid: { stroke: css("--line"), width: 1 },
              ticks: { show: false },
            },
          ],
          series: [
            {},
            { stroke: css("--held"), width: 2, dash: [6, 4], points: { show: false } },
            { stroke: css("--accent"), width: 2.5, show: after !== null, points: { show: false } },
          ],
        })}
      />
    </div>
  );
}
