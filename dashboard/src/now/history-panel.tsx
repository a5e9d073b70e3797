// The evidence under the sentences: what each model did on each device, with every decision, and how deep the queue was.

import { useEffect, useMemo, useState } from "preact/hooks";
import type { StatusWire } from "../../../src/client/wire-status.ts";
import { useSelected } from "../cell.ts";
import { nowMs, useNow } from "../clock.ts";
import { status } from "../live/state.ts";
import { useTimeline } from "../live/timeline.ts";
import { Gantt } from "../parts/gantt.tsx";
import type { LaneDevice } from "../parts/gantt-layout.ts";
import { GanttLegend } from "../parts/gantt-legend.tsx";
import type { Planned } from "../parts/gantt-props.ts";
import { GanttTable } from "../parts/gantt-table.tsx";
import { Panel, Segmented } from "../parts/panel.tsx";
import { PHONE, useMedia } from "../parts/size.ts";
import { clockMinutes } from "../parts/time.ts";
import { setQuery, useRoute } from "../route.ts";
import { useKeys } from "../typing.ts";
import { DepthChart } from "./depth-chart.tsx";
import { isRange, keyOfWindow, RANGES, type Range, rangeBackTo, type Window, windowAt } from "./window.ts";

export function HistoryPanel() {
  const [range, seen] = useRange();
  const until = Number(useRoute().query.get("until")) || null;
  const now = useNow();
  const phone = useMedia(PHONE);
  const [held, setHeld] = useState<number | null>(null);
  const [asTable, setAsTable] = useState(false);
  const devices = useLanes();
  // Under the pointer nothing moves.
  const window = windowAt(held ?? now, range, until, phone ? 360 : 1100);
  useWindowKeys(range, window, now);
  const tools = (
    <div class="tools">
      {until !== null && (
        <button type="button" class="button" onClick={() => setQuery({ until: null })}>
          Back to now
        </button>
      )}
      <Segmented
        label="How far back"
        value={range}
        options={RANGES.map((each) => [each, each.replace(/(\d+)/, "$1\u00a0")] as const)}
        onChange={(next) => setQuery({ range: next })}
      />
      <button type="button" class="button" aria-pressed={asTable} onClick={() => setAsTable(!asTable)}>
        As table
      </button>
    </div>
  );
  return (
    <Panel
      title={until === null ? "What happened" : `What happened until ${clockMinutes(until)}`}
      id="h-history"
      aside={tools}
    >
      <div
        onPointerEnter={(event) => event.pointerType === "mouse" && setHeld(now)}
        onPointerLeave={() => setHeld(null)}
      >
        <Chart devices={devices} window={window} asTable={asTable} phone={phone} seen={seen} />
      </div>
    </Panel>
  );
}

interface ChartProps {
  readonly devices: readonly LaneDevice[];
  readonly window: Window;
  readonly asTable: boolean;
  readonly phone: boolean;
  /** Told when the first stretch in the timeline begins, once it is read. */
  seen(earliestMs: number): void;
}

const NOTHING: readonly never[] = [];

function Chart({ devices, window, asTable, phone, seen }: ChartProps) {
  const { fromMs, toMs, nowMs: shownMs, readFromMs, readToMs } = window;
  const { timeline, error } = useTimeline({ fromMs: readFromMs, toMs: readToMs, px: phone ? 360 : 1000 });
  const spans = timeline?.spans ?? NOTHING;
  useEffect(() => {
    if (timeline !== null) seen(Math.min(timeline.to_ms, ...timeline.spans.map(([, , , atMs]) => atMs)));
  }, [timeline === null]);
  // Drawn again for a stretch or a decision that came, and when now is a pixel further; not with every delta or second.
  const picture = useMemo(
    () =>
      asTable ? (
        <GanttTable
          devices={devices}
          spans={spans}
          pauses={timeline?.pauses ?? NOTHING}
          fromMs={fromMs}
          nowMs={shownMs}
        />
      ) : (
        <Gantt
          title="What each model did on each device"
          devices={devices}
          spans={spans}
          moves={timeline?.moves ?? NOTHING}
          pauses={timeline?.pauses ?? NOTHING}
          downtimes={timeline?.downtimes ?? NOTHING}
          fromMs={fromMs}
          toMs={toMs}
          nowMs={shownMs}
          planned={plannedAt(shownMs)}
        />
      ),
    [asTable, devices, timeline, fromMs, toMs, shownMs],
  );
  if (devices.length === 0) return <span class="ghost tallest" />;
  return (
    <>
      {error !== null && <p class="fault">The timeline could not be read: {error.message}</p>}
      {picture}
      <DepthChart window={window} phone={phone} />
      {!asTable && <GanttLegend />}
    </>
  );
}

/** What was asked for; else as far back as there is something to see, told once: the picture does not change by itself. */
function useRange(): [range: Range, seen: (earliestMs: number) => void] {
  const asked = useRoute().query.get("range");
  const [fitting, setFitting] = useState<Range | null>(null);
  const seen = (earliestMs: number): void => {
    if (fitting === null) setFitting(rangeBackTo(earliestMs, nowMs()));
  };
  return [asked !== null && isRange(asked) ? asked : (fitting ?? "2h"), seen];
}

/** A lane for each model on each device that it may lie on. The same object while names are the same. */
function useLanes(): readonly LaneDevice[] {
  const key = useSelected(status, (value) => (value === null ? "[]" : JSON.stringify(lanesOf(value))));
  return useMemo(() => JSON.parse(key) as readonly LaneDevice[], [key]);
}

function lanesOf({ devices, models }: StatusWire): LaneDevice[] {
  return devices.map(({ id, memory_gib: memory }) => ({
    id,
    ...(memory === null ? {} : { about: `${memory}\u00a0GiB` }),
    models: models.filter((model) => model.homes.includes(id)).map(({ id: name, label }) => ({ id: name, label })),
  }));
}

/** Outlines right of now, as they are expected at the moment of the picture: not followed between two of them. */
function plannedAt(shownMs: number): readonly Planned[] {
  const { devices = [], models = [] } = status.value ?? {};
  return devices.flatMap(({ id, next }) => {
    if (next === null || next.mid === null || next.mid * 1000 < shownMs) return [];
    const load = models.find((model) => model.id === next.model)?.load_seconds ?? 0;
    return [{ device: id, model: next.model, fromMs: next.mid * 1000, toMs: (next.mid + load) * 1000 }];
  });
}

function useWindowKeys(range: Range, window: Window, atMs: number): void {
  useKeys((event) => {
    const query = keyOfWindow(event.key, range, window, atMs);
    if (query === null) return;
    event.preventDefault();
    setQuery(query);
  });
}
