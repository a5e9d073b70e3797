// Where a job's time went: the bar, and a row for each part with what happened and what would change it. The parts add up
// to the whole, to the millisecond.

import type { ExplanationWire, PartWire } from "../../../src/client/wire-explain.ts";
import { percent } from "../../../src/scheduler/wording.ts";
import { useNow } from "../clock.ts";
import { Panel } from "../parts/panel.tsx";
import { duration, moment } from "../parts/time.ts";
import { WaitBar } from "../parts/wait-bar.tsx";
import { href } from "../route.ts";
import { isCode, whatIfOf } from "./levers.ts";

export function TimeSpent({ told }: { readonly told: ExplanationWire }) {
  const now = useNow();
  const { parts, stretches, total_ms, from_ms, to_ms, final } = told;
  const titles = new Map(parts.map((part) => [subject(part), part.title]));
  const bar = stretches.map((each) => ({
    cause: each.cause,
    ms: each.to_ms - each.from_ms,
    title: titles.get(subject(each)) ?? "",
  }));
  return (
    <Panel
      title="Where the time went"
      id="h-spent"
      aside={
        <span class="note">
          {duration(total_ms)} {final ? "in all" : "so far"}; the parts add up exactly.{" "}
          {told.try !== null && <a href={href(["what-if"], whatIfOf(told.try))}>Would another setting help?</a>}
        </span>
      }
    >
      <WaitBar parts={bar.length === 0 ? parts : bar} tall />
      <table class="data spent">
        <thead>
          <tr>
            <th>Cause</th>
            <th class="num">Time</th>
            <th class="num">Share</th>
            <th>What happened</th>
            <th>What would change it</th>
          </tr>
        </thead>
        <tbody>
          {parts.map((part) => (
            <PartRow key={`${subject(part)} ${part.from_ms}`} part={part} />
          ))}
        </tbody>
        <tfoot>
          <tr data-total={total_ms}>
            <td>Total</td>
            <td class="num">
              <b>{duration(total_ms)}</b>
            </td>
            <td class="num">{percent(1)}</td>
            <td colSpan={2} class="dim">
              {moment(from_ms, now)} to {final ? moment(to_ms, now) : "now"}
            </td>
          </tr>
        </tfoot>
      </table>
    </Panel>
  );
}

const subject = ({ cause, rule, by }: Pick<PartWire, "cause" | "rule" | "by">): string => `${cause} ${rule} ${by}`;

function PartRow({ part }: { readonly part: PartWire }) {
  return (
    <tr data-ms={part.ms} data-cause={part.cause}>
      <td class="part-cause">
        <span class={`key c-${part.cause}`} aria-hidden="true" />
        {part.title}
      </td>
      <td class="num">
        <b>{duration(part.ms)}</b>
      </td>
      <td class="num">{percent(part.share)}</td>
      <td>
        {part.text}
        {part.stretches > 1 && <span class="dim">, {part.stretches} times</span>}
        {part.decision !== null && (
          <>
            {" "}
            <a href={href(["decisions", part.decision])}>decision</a>
          </>
        )}
      </td>
      <td class="dim">
        <Levers levers={part.levers} />
      </td>
    </tr>
  );
}

/** Configuration keys and commands are set as code, facts as text. */
function Levers({ levers }: { readonly levers: readonly string[] }) {
  if (levers.length === 0) return <>–</>;
  return (
    <>
      {levers.map((lever, i) => (
        <span key={lever}>
          {i > 0 && ", "}
          {isCode(lever) ? <code>{lever}</code> : <Marked text={lever} />}
        </span>
      ))}
    </>
  );
}

/** Code between backticks. */
function Marked({ text }: { readonly text: string }) {
  return <>{text.split("`").map((piece, i) => (i % 2 === 1 ? <code key={piece}>{piece}</code> : piece))}</>;
}
