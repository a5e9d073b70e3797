// What a rule compared by name, where its scores are no sums: two amounts as bars on one scale, and what remains as facts.

import type { DecisionWire, PreloadWire } from "../../../src/client/wire.ts";
import { duration, percent, score } from "../../../src/scheduler/wording.ts";
import { type Comparison, comparisonsOf, otherNumbers } from "./arithmetic.ts";

interface WeighedProps {
  readonly decision: DecisionWire;
  nameOf(model: string): string;
}

export function Weighed({ decision, nameOf }: WeighedProps) {
  const pairs = comparisonsOf(decision);
  const rest = otherNumbers(decision);
  const { about, load, budget, preload } = decision;
  const subject = load ?? about;
  if (pairs.length === 0 && rest.length === 0 && budget === null && preload === null) return null;
  return (
    <div class="weighed">
      {subject !== null && pairs.length > 0 && (
        <p class="note">
          For <b>{nameOf(subject)}</b>:
        </p>
      )}
      {pairs.map((pair) => (
        <Compared key={pair.meaning} pair={pair} />
      ))}
      {preload !== null && <Preload preload={preload} />}
      <dl class="facts">
        {rest.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
        {budget !== null && (
          <div>
            <dt>loading budget</dt>
            <dd>
              {duration(budget.before_seconds * 1000)} before, {duration(budget.after_seconds * 1000)} after
            </dd>
          </div>
        )}
      </dl>
    </div>
  );
}

function Compared({ pair }: { readonly pair: Comparison }) {
  const { left, right, unit, meaning } = pair;
  const most = Math.max(Math.abs(left.value), Math.abs(right.value), Number.MIN_VALUE);
  const text = (value: number): string => (unit === "s" ? duration(value * 1000) : score(value));
  const sign = left.value > right.value ? ">" : left.value < right.value ? "<" : "=";
  return (
    <div class="compared">
      {[left, right].map(({ name, value }, i) => (
        <div key={name} class="compared-row">
          <span>{name}</span>
          <span class="compared-bar" aria-hidden="true">
            <span class={`seg a-${i === 0 ? "age" : "cost"}`} style={{ width: `${(100 * Math.abs(value)) / most}%` }} />
          </span>
          <b class="num">{text(value)}</b>
        </div>
      ))}
      <p class="arithmetic">
        {left.name} {text(left.value)} {sign} {right.name} {text(right.value)}
      </p>
      <p class="note">{meaning}</p>
    </div>
  );
}

function Preload({ preload }: { readonly preload: PreloadWire }) {
  const { gain, price, risk, margin, probability, source } = preload;
  const pair: Comparison = {
    left: { name: "gain", value: gain },
    right: { name: "price and risk, with margin", value: margin * (price + risk) },
    unit: "score",
    meaning: `A load ahead of need (${source}, expected with ${percent(probability)}) must gain ${score(margin)} times its price of ${score(price)} and its risk of ${score(risk)}.`,
  };
  return <Compared pair={pair} />;
}
