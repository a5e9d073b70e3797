// What the job's device did over its life, and the race of scores that decided when its model's turn came, on one axis.

import { useMemo } from "preact/hooks";
import type { ExplanationWire } from "../../../src/client/wire-explain.ts";
import type { TimelineWire } from "../../../src/client/wire-live.ts";
import { useSelected } from "../cell.ts";
import { useNow } from "../clock.ts";
import { status } from "../live/state.ts";
import { useTimeline } from "../live/timeline.ts";
import { Gantt } from "../parts/gantt.tsx";
import { laneDevices } from "../parts/lanes.ts";
import { Panel } from "../parts/panel.tsx";
import { useWidth } from "../parts/size.ts";
import { Race } from "./race.tsx";
import { raceOf } from "./race-data.ts";

const LEAST_MARGIN_MS = 15_000;
const MARGIN = 0.12;
/** A live job's picture is read anew when it has grown by so much. */
const STEP_MS = 30_000;
/** The picture is drawn no oftener than this, unless a stretch comes. */
const DRAW_MS = 2_000;

export function Meanwhile({ told }: { readonly told: ExplanationWire }) {
  const [box, width] = useWidth<HTMLDivElement>();
  const clockMs = useNow();
  const home = useSelected(status, (state) => state?.models.find(({ id }) => id === told.model)?.devices[0] ?? null);
  const { from_ms, final } = told;
  const seenMs = Math.floor(clockMs / DRAW_MS) * DRAW_MS;
  const endMs = final ? told.to_ms : Math.max(told.to_ms, seenMs);
  const margin = Math.max(LEAST_MARGIN_MS, (endMs - from_ms) * MARGIN);
  const fromMs = from_ms - margin;
  // In steps, so that the router is not asked every second.
  const toMs = final ? endMs + margin : Math.ceil((endMs + margin) / STEP_MS) * STEP_MS;
  // Of a job that is over the picture stands still once now has left it.
  const shownMs = Math.min(seenMs, toMs + 1);
  const device = deviceOf(told) ?? home;
  const { timeline, error } = useTimeline({
    fromMs: Math.floor(final ? fromMs : from_ms - LEAST_MARGIN_MS),
    toMs: final ? Math.ceil(toMs) : null,
    px: Math.round(width / 100) * 100,
    ...(device === null ? {} : { device }),
  });
  const race = useMemo(() => raceOf(told.decisions, told.model, from_ms), [told]);
  const picture = useMemo(
    () => timeline !== null && <Picture {...{ told, timeline, device, fromMs, toMs, endMs, nowMs: shownMs }} />,
    [told, timeline, device, fromMs, toMs, endMs, shownMs],
  );
  return (
    <Panel
      title={device === null ? "What the devices did meanwhile" : `What ${device} did meanwhile`}
      id="h-meanwhile"
      aside={<span class="note">Shaded: this job's life. Diamonds: decisions.</span>}
    >
      <div ref={box} class="meanwhile">
        {picture || <p class="dim">{error === null ? "Reading …" : error.message}</p>}
      </div>
      {race !== null && <Race race={race} label={told.label} fromMs={fromMs} toMs={toMs} />}
    </Panel>
  );
}

interface PictureProps {
  readonly told: ExplanationWire;
  readonly timeline: TimelineWire;
  readonly device: string | null;
  readonly fromMs: number;
  readonly toMs: number;
  readonly endMs: number;
  readonly nowMs: number;
}

function Picture({ told, timeline, device, endMs, ...window }: PictureProps) {
  const { spans } = timeline;
  const started = startedMs(told);
  return (
    <Gantt
      {...window}
      title={`What ${device ?? "the devices"} did while this job waited and ran`}
      devices={laneDevices(status.value, spans, device, told.model)}
      spans={spans}
      moves={timeline.moves.filter((move) => device === null || move.device === device)}
      pauses={timeline.pauses}
      downtimes={timeline.downtimes}
      compact
      shade={{ fromMs: told.from_ms, toMs: endMs }}
      lines={[
        { atMs: told.from_ms, label: "accepted" },
        ...(started === null ? [] : [{ atMs: started, label: "started" }]),
      ]}
    />
  );
}

function deviceOf({ parts, decisions }: ExplanationWire): string | null {
  return parts.find(({ device }) => device !== null)?.device ?? decisions.at(-1)?.device ?? null;
}

/** When its last run began; null: it never ran. */
function startedMs({ stretches }: ExplanationWire): number | null {
  return stretches.findLast(({ cause }) => cause === "running")?.from_ms ?? null;
}
