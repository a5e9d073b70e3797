// The candidates of a decision as diverging bars: for the model to the right of zero, against it to the left, a tick at
// the sum, the arithmetic written out below.

import type { DecisionWire } from "../../../src/client/wire.ts";
import { score } from "../../../src/scheduler/wording.ts";
import { ADDEND_WORDS, type Addend, type AddendKind, reachOf, type ScoreLine, scoreLine } from "./arithmetic.ts";

interface ScoresProps {
  readonly decision: DecisionWire;
  nameOf(model: string): string;
}

export function Scores({ decision, nameOf }: ScoresProps) {
  const lines = decision.models.map(scoreLine);
  const reach = reachOf(lines);
  const span = Math.max(reach.left + reach.right, Number.MIN_VALUE);
  const zero = (100 * reach.left) / span;
  const kinds = [...new Set(lines.flatMap(({ addends }) => addends.map(({ kind }) => kind)))];
  return (
    <>
      <ScoreLegend kinds={kinds} />
      <ul class="scores">
        {decision.models.map((scored, i) => {
          const line = lines[i];
          if (line === undefined) return null;
          return (
            <li key={scored.model} class={scored.eligible ? "" : "barred"}>
              <div class="score-name">
                <b>{nameOf(scored.model)}</b>
                <Chips decision={decision} model={scored.model} />
                <span class="score-sum">{line.score === null ? "–" : score(line.score)}</span>
              </div>
              <ScoreBar line={line} zero={zero} span={span} name={nameOf(scored.model)} />
              <p class="arithmetic">{line.text}</p>
              {scored.why_not !== null && <p class="note">Could not be chosen: {scored.why_not}.</p>}
            </li>
          );
        })}
      </ul>
    </>
  );
}

function Chips({ decision, model }: { readonly decision: DecisionWire; readonly model: string }) {
  const { load, evict, resident, kind, guard } = decision;
  const loaded = resident.some((each) => each.model === model);
  const stays = load === null && evict.length === 0;
  return (
    <>
      {loaded && <span class="chip">loaded</span>}
      {model === load && <span class="chip win">won</span>}
      {loaded && stays && kind === "hold" && <span class="chip win">kept</span>}
      {evict.includes(model) && <span class="chip">had to go</span>}
      {model === load && guard === "ceiling" && <span class="chip bad">ceiling</span>}
    </>
  );
}

function ScoreLegend({ kinds }: { readonly kinds: readonly AddendKind[] }) {
  if (kinds.length === 0) return null;
  return (
    <ul class="legend score-legend">
      {kinds.map((kind) => (
        <li key={kind}>
          <span class={`key a-${kind}`} aria-hidden="true" />
          {ADDEND_WORDS[kind]}
        </li>
      ))}
      <li>
        <span class="sum-key" aria-hidden="true" />
        the sum
      </li>
    </ul>
  );
}

interface ScoreBarProps {
  readonly line: ScoreLine;
  /** Where zero lies, in per cent of the width. */
  readonly zero: number;
  readonly span: number;
  readonly name: string;
}

function ScoreBar({ line, zero, span, name }: ScoreBarProps) {
  const width = (value: number): number => (100 * Math.abs(value)) / span;
  const drawn: readonly Addend[] =
    line.addends.length > 0 || line.score === null ? line.addends : [{ kind: "other", name, value: line.score }];
  let [left, right] = [zero, zero];
  return (
    <div class="score-bar" role="img" aria-label={`${name}: ${line.text}`}>
      {drawn.map(({ kind, name: what, value }) => {
        const from = value < 0 ? left - width(value) : right;
        if (value < 0) left = from;
        else right += width(value);
        return (
          <span
            key={what}
            class={`seg a-${kind}`}
            title={`${what}: ${score(value)}`}
            style={{ left: `${from}%`, width: `${width(value)}%` }}
          />
        );
      })}
      <i class="zero" style={{ left: `${zero}%` }} />
      {line.score !== null && <i class="sum" style={{ left: `${zero + (100 * line.score) / span}%` }} />}
    </div>
  );
}
