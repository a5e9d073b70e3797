// The last decisions, newest first. A stay that was looked at only once or twice is left out.

import type { DecisionWire } from "../../../src/client/wire.ts";
import { useCell, useSelected } from "../cell.ts";
import { decisions, status } from "../live/state.ts";
import { DecisionKind } from "../parts/decision-kind.tsx";
import { memo } from "../parts/memo.tsx";
import { Panel } from "../parts/panel.tsx";
import { clock, duration } from "../parts/time.ts";
import { href } from "../route.ts";

const SHOWN = 6;
const LOOKS_WORTH_TELLING = 4;

export function Feed() {
  const all = useCell(decisions);
  const known = useSelected(status, (value) => value !== null);
  const shown = all.filter(isTold).slice(0, SHOWN);
  return (
    <Panel title="Last decisions" id="h-feed" aside={<a href={href(["decisions"])}>All decisions</a>}>
      {shown.length === 0 && known && <p class="quiet-line">Nothing had to be decided yet.</p>}
      <ol class="feed">
        {shown.map((decision) => (
          <Entry key={decision.id} decision={decision} />
        ))}
      </ol>
    </Panel>
  );
}

function isTold({ kind, times }: DecisionWire): boolean {
  return (kind !== "hold" && kind !== "idle") || (times ?? 1) >= LOOKS_WORTH_TELLING;
}

const Entry = memo(function Entry({ decision }: { readonly decision: DecisionWire }) {
  const { id, at, device, sentence, times, last_at: lastAt } = decision;
  const lasted = (lastAt - at) * 1000;
  return (
    <li>
      <a href={href(["decisions", id])}>
        <time>{clock(at * 1000)}</time>
        <DecisionKind decision={decision} />
        <span class="said">
          <b>{device}</b> {sentence}
          {times > 1 && lasted >= 1000 && <em> For {duration(lasted)}.</em>}
        </span>
      </a>
    </li>
  );
});
