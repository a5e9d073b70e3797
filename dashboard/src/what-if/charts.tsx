// Both runs as charts on one axis, so that a swap more or less is seen.

import { useState } from "preact/hooks";
import type { ReplayWire } from "../../../src/client/wire-live.ts";
import { useCell } from "../cell.ts";
import { status } from "../live/state.ts";
import { Gantt } from "../parts/gantt.tsx";
import { laneDevices } from "../parts/lanes.ts";
import { Panel, Segmented } from "../parts/panel.tsx";

const ALL = "all";
const HOUR_MS = 3_600_000;
const WINDOWS: readonly (readonly [hours: number, text: string])[] = [
  [0.25, "15 m"],
  [1, "1 h"],
  [3, "3 h"],
  [12, "12 h"],
];

export function Charts({ replay }: { readonly replay: ReplayWire }) {
  const state = useCell(status);
  const [shown, setShown] = useState(ALL);
  const { from_ms, to_ms, recorded_spans: recorded, other_spans: other } = replay;
  const lengthMs = to_ms - from_ms;
  const options = WINDOWS.filter(([hours]) => hours * HOUR_MS < lengthMs * 0.8);
  const hours = Number(shown);
  const fromMs = Number.isFinite(hours) && hours * HOUR_MS < lengthMs ? to_ms - hours * HOUR_MS : from_ms;
  const both = [...(recorded ?? []), ...(other ?? [])];
  // Of the past alone: the line of the present lies behind the axis.
  const axis = { devices: laneDevices(state, both, null), fromMs, toMs: to_ms, nowMs: to_ms + 1, compact: true };
  return (
    <Panel
      title="Both on one axis"
      id="h-both"
      aside={
        options.length > 0 && (
          <Segmented
            label="Time shown"
            value={shown}
            options={[[ALL, "All"], ...options.map(([each, text]): [string, string] => [String(each), `Last ${text}`])]}
            onChange={setShown}
          />
        )
      }
    >
      <h3 class="chart-title">What happened</h3>
      <Gantt title="What happened" spans={recorded ?? []} {...axis} />
      {other !== null && (
        <>
          <h3 class="chart-title">With the other settings</h3>
          <Gantt title="With the other settings" spans={other} {...axis} />
        </>
      )}
    </Panel>
  );
}
