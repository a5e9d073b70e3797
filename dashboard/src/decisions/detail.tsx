// One decision: the sentence, the candidates with every addend, the guard in words, the device around it, what followed,
// the settings that were in force.

import type { DecisionWire } from "../../../src/client/wire.ts";
import { useNow } from "../clock.ts";
import { shortId } from "../jobs/row.tsx";
import { useLabels } from "../live/labels.ts";
import { useLoaded } from "../parts/loaded.ts";
import { Empty, Panel } from "../parts/panel.tsx";
import { duration, moment } from "../parts/time.ts";
import { href } from "../route.ts";
import { guardWords, scoreLine } from "./arithmetic.ts";
import { Around } from "./around.tsx";
import { Scores } from "./scores.tsx";
import { SettingsThen } from "./settings-then.tsx";
import { Weighed } from "./weighed.tsx";

interface DetailProps {
  readonly id: string;
  /** Where the list has it already. */
  readonly known: DecisionWire | null;
  readonly earlier: string | null;
  readonly later: string | null;
  /** Keeps the list's filters. */
  placeOf(id: string): string;
}

export function DecisionDetail({ id, known, earlier, later, placeOf }: DetailProps) {
  const read = useLoaded<DecisionWire>(known === null ? `v1/decisions/${encodeURIComponent(id)}` : null);
  const decision = known ?? read.data;
  if (decision === null) {
    if (read.error === null) return <span class="ghost panel-ghost" role="status" aria-label="Reading the decision" />;
    return (
      <Empty title={read.error.status === 404 ? "No such decision." : read.error.message}>
        {read.error.status === 404 && "Decisions are kept for seven days."}
      </Empty>
    );
  }
  return (
    <article class="decision" aria-labelledby="h-decision">
      <header class="decision-head">
        <h2 id="h-decision">{decision.sentence}</h2>
        <nav class="tools" aria-label="Neighbouring decisions">
          {earlier !== null && (
            <a class="button" href={placeOf(earlier)} aria-keyshortcuts="[">
              ‹ Earlier
            </a>
          )}
          {later !== null && (
            <a class="button" href={placeOf(later)} aria-keyshortcuts="]">
              Later ›
            </a>
          )}
        </nav>
      </header>
      <About decision={decision} />
      <Candidates decision={decision} />
      <Around key={decision.id} decision={decision} />
      <SettingsThen decision={decision} />
    </article>
  );
}

function About({ decision }: { readonly decision: DecisionWire }) {
  const now = useNow();
  const { at, device, reason, policy, guard, next_look_at, last_at, asked_by } = decision;
  const words = guardWords(guard);
  const stays = decision.load === null && decision.evict.length === 0;
  return (
    <p class="decision-about">
      Decided at <b>{moment(at * 1000, now)}</b> on <b>{device}</b> by <code>{policy}</code>, reason{" "}
      <code>{reason}</code>.{asked_by !== null && asked_by !== "local" && <> Asked for by {asked_by}.</>} {words}{" "}
      {stays && next_look_at !== null && next_look_at > last_at && (
        <span class="dim">
          Without news it looks again at {moment(next_look_at * 1000, now)}, {duration((next_look_at - last_at) * 1000)}{" "}
          later.
        </span>
      )}
    </p>
  );
}

function Candidates({ decision }: { readonly decision: DecisionWire }) {
  const nameOf = useLabels();
  const adds = decision.models.some((each) => scoreLine(each).addends.length > 0);
  const weighs = decision.models.some(({ score }) => score !== null);
  return (
    <Panel
      title={weighs ? "Scores" : "Candidates"}
      id="h-scores"
      aside={
        <span class="note">
          {adds
            ? "For the model: right of the line. Against it: left."
            : "What the rule ranks by; what it weighed stands above."}
        </span>
      }
    >
      <Weighed decision={decision} nameOf={nameOf} />
      {decision.models.length === 0 ? <p class="dim">Nothing waited and nothing was loaded.</p> : null}
      <Scores decision={decision} nameOf={nameOf} />
      {decision.jobs.length > 0 && (
        <p class="note">
          Jobs that spoke for it:{" "}
          {decision.jobs.map((job, i) => (
            <span key={job}>
              {i > 0 && ", "}
              <a class="mono" href={href(["jobs", job])} title={job}>
                {shortId(job)}
              </a>
            </span>
          ))}
        </p>
      )}
    </Panel>
  );
}
