// The evidence under the sentences: what each model did on each device, with every decision, and how deep the queue was.

import { useEffect, useMemo, useState } from "preact/hooks";
import type { StatusWire } from "../../../src/client/wire-status.ts";
import { useSelected } from "../cell.ts";
import { nowMs, useNow } from "../clock.ts";
import { isTyping } from "../keyboard.ts";
import { status } from "../live/state.ts";
import { useTimeline } from "../live/timeline.ts";
import { Gantt, type Planned } from "../parts/gantt.tsx";
import type { LaneDevice } from "../parts/gantt-layout.ts";
import { GanttLegend } from "../parts/gantt-legend.tsx";
import { GanttTable } from "../parts/gantt-table.tsx";
import { Panel, Segmented } from "../parts/panel.tsx";
import { PHONE, useMedia } from "../parts/size.ts";
import { clockMinutes } from "../parts/time.ts";
import { setQuery, useRoute } from "../route.ts";
import { DepthChart } from "./depth-chart.tsx";
import { isRange, keyOfWindow, RANGE_MS, RANGES, type Range, type Window, windowAt } from "./window.ts";

export function HistoryPanel() {
  const range = useRange();
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
        <Chart devices={devices} window={window} asTable={asTable} phone={phone} />
      </div>
    </Panel>
  );
}

interface ChartProps {
  readonly devices: readonly LaneDevice[];
  readonly window: Window;
  readonly asTable: boolean;
  readonly phone: boolean;
}

const NOTHING: readonly never[] = [];

function Chart({ devices, window, asTable, phone }: ChartProps) {
  const { fromMs, toMs, nowMs: shownMs, readFromMs, readToMs } = window;
  const { timeline, error } = useTimeline({ fromMs: readFromMs, toMs: readToMs, px: phone ? 360 : 1000 });
  const planned = usePlanned(shownMs);
  const spans = timeline?.spans ?? NOTHING;
  // Drawn again when the picture is another one, not with every second.
  const picture = useMemo(
    () =>
      asTable ? (
        <GanttTable devices={devices} spans={spans} fromMs={fromMs} nowMs={shownMs} />
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
          planned={planned}
        />
      ),
    [asTable, devices, timeline, fromMs, toMs, shownMs, planned],
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

/** What was asked for; else as far back as there is something to see. */
function useRange(): Range {
  const asked = useRoute().query.get("range");
  const startedAt = useSelected(status, (value) => value?.started_at ?? null);
  // Told once, so that the picture does not change by itself when the router grows older.
  const fitting = useMemo(() => fittingRange(status.value, nowMs()), [startedAt]);
  return asked !== null && isRange(asked) ? asked : fitting;
}

function fittingRange(now: StatusWire | null, atMs: number): Range {
  if (now === null) return "2h";
  const { waiting, running, done_1h: done, failed_1h: failed } = now.totals;
  const hasPast = now.store.jobs > waiting + running + done + failed;
  const upMs = atMs - now.started_at * 1000;
  return RANGES.find((range) => !hasPast && upMs < RANGE_MS[range] * 0.8 && range !== "6h") ?? "2h";
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

/** Outlines right of now. */
function usePlanned(shownMs: number): readonly Planned[] {
  const devices = useSelected(status, (value) => value?.devices ?? null);
  const models = useSelected(status, (value) => value?.models ?? null);
  return useMemo(
    () =>
      (devices ?? []).flatMap(({ id, next }) => {
        if (next === null || next.mid === null || next.mid * 1000 < shownMs) return [];
        const load = models?.find((model) => model.id === next.model)?.load_seconds ?? 0;
        return [{ device: id, model: next.model, fromMs: next.mid * 1000, toMs: (next.mid + load) * 1000 }];
      }),
    [devices, models, shownMs],
  );
}

function useWindowKeys(range: Range, window: Window, atMs: number): void {
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || isTyping(event)) return;
      const query = keyOfWindow(event.key, range, window, atMs);
      if (query === null) return;
      event.preventDefault();
      setQuery(query);
    };
    addEventListener("keydown", listen);
    return () => removeEventListener("keydown", listen);
  }, [range, window, atMs]);
}
