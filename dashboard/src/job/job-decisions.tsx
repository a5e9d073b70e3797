// The decisions that passed the job's model over or brought it in, in order.

import type { ExplainingDecisionWire, ExplanationWire } from "../../../src/client/wire-explain.ts";
import { jobs, score, thousands } from "../../../src/scheduler/wording.ts";
import { useNow } from "../clock.ts";
import { KindChip } from "../decisions/kind-chip.tsx";
import { Panel } from "../parts/panel.tsx";
import { moment } from "../parts/time.ts";
import { href } from "../route.ts";

export function JobDecisions({ told }: { readonly told: ExplanationWire }) {
  const { decisions } = told;
  return (
    <Panel title={`Decisions it took part in (${decisions.length})`} id="h-decisions">
      {decisions.length === 0 ? (
        <p class="dim">
          {told.partial ? "They are no longer kept." : "None: its model was there, or nothing stood in its way."}
        </p>
      ) : (
        <ol class="decision-list">
          {decisions.map((each) => (
            <Row key={each.id} decision={each} />
          ))}
        </ol>
      )}
    </Panel>
  );
}

function Row({ decision }: { readonly decision: ExplainingDecisionWire }) {
  const now = useNow();
  const { at_ms, last_at_ms, times, own } = decision;
  return (
    <li>
      <time>{moment(at_ms, now)}</time>
      <KindChip kind={decision.kind} reason={decision.reason} />
      <div>
        <p>
          <a href={href(["decisions", decision.id])}>{decision.sentence}</a>
        </p>
        <p class="note">
          {times > 1 && `Looked at ${thousands(times)} times until ${moment(last_at_ms, now)}. `}
          {own !== null && own.score !== null && `Own score ${score(own.score)}, ${jobs(own.depth)} waiting.`}
        </p>
      </div>
    </li>
  );
}
