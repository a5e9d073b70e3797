// The device around a decision, and what came of it.

import type { DecisionWire } from "../../../src/client/wire.ts";
import type { TimelineWire } from "../../../src/client/wire-live.ts";
import type { StatusWire } from "../../../src/client/wire-status.ts";
import { duration } from "../../../src/scheduler/wording.ts";
import { useCell } from "../cell.ts";
import { useNow } from "../clock.ts";
import { status } from "../live/state.ts";
import { useTimeline } from "../live/timeline.ts";
import { Gantt } from "../parts/gantt.tsx";
import { laneDevices } from "../parts/lanes.ts";
import { Panel } from "../parts/panel.tsx";
import { useWidth } from "../parts/size.ts";
import { clock } from "../parts/time.ts";
import { href } from "../route.ts";
import { followed, windowOf } from "./followed.ts";

export function Around({ decision }: { readonly decision: DecisionWire }) {
  const [box, width] = useWidth<HTMLDivElement>();
  const now = useNow();
  const state = useCell(status);
  const { fromMs, toMs } = windowOf(decision);
  const live = now > 0 && toMs > now;
  const { timeline, error } = useTimeline({
    fromMs,
    toMs: live ? null : toMs,
    px: Math.round(width / 100) * 100,
    device: decision.device,
  });
  const atMs = decision.at * 1000;
  const spans = timeline?.spans ?? [];
  return (
    <Panel title="Around it" id="h-around" aside={<span class="note">The line is this decision.</span>}>
      <div ref={box} class="around">
        {timeline === null ? (
          <p class="dim">{error === null ? "Reading …" : error.message}</p>
        ) : (
          <>
            <Gantt
              title={`${decision.device} around this decision`}
              devices={laneDevices(state, spans, decision.device, decision.load)}
              spans={spans}
              moves={timeline.moves.filter(({ device }) => device === decision.device)}
              pauses={timeline.pauses}
              downtimes={timeline.downtimes}
              fromMs={fromMs}
              toMs={live ? Math.min(toMs, now + (toMs - fromMs) * 0.05) : toMs}
              nowMs={now}
              compact
              lines={[{ atMs, label: "this decision" }]}
              marked={decision.id}
              {...(decision.last_at > decision.at ? { shade: { fromMs: atMs, toMs: decision.last_at * 1000 } } : {})}
            />
            <Followed decision={decision} timeline={timeline} state={state} />
          </>
        )}
      </div>
    </Panel>
  );
}

interface FollowedProps {
  readonly decision: DecisionWire;
  readonly timeline: TimelineWire;
  readonly state: StatusWire | null;
}

function Followed({ decision, timeline, state }: FollowedProps) {
  const { load, times, last_at, at } = decision;
  if (load === null) {
    if (times < 2) return null;
    return (
      <p class="followed">
        The router came to the same {times} times, until {clock(last_at * 1000)} ({duration((last_at - at) * 1000)}).
      </p>
    );
  }
  const { loadMs, failed, endedBy } = followed(decision, timeline);
  const usual = state?.models.find(({ id }) => id === load)?.loads.median_seconds ?? null;
  return (
    <p class="followed">
      {loadMs === null ? (
        "The load has not ended."
      ) : (
        <>
          The load {failed ? "failed after" : "took"} <b>{duration(loadMs)}</b>
          {usual === null ? "" : ` (usually ${duration(usual * 1000)})`}.
        </>
      )}{" "}
      {endedBy !== null && (
        <>
          It stayed for {duration(endedBy.at_ms - at * 1000)}, until{" "}
          <a href={href(["decisions", endedBy.id])}>{clock(endedBy.at_ms)}</a>: {endedBy.sentence}
        </>
      )}
    </p>
  );
}
