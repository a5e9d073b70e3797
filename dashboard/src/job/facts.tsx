// What is known of the job besides its time, and its answer for whoever may see it.

import { useState } from "preact/hooks";
import type { ExplanationWire } from "../../../src/client/wire-explain.ts";
import type { JobRow } from "../../../src/client/wire-live.ts";
import { useNow } from "../clock.ts";
import { Panel } from "../parts/panel.tsx";
import { BandMark } from "../parts/state-mark.tsx";
import { duration, moment } from "../parts/time.ts";
import { Answer } from "./answer.tsx";

interface FactsProps {
  readonly told: ExplanationWire;
  readonly row: JobRow | null;
}

export function Facts({ told, row }: FactsProps) {
  const now = useNow();
  const [asked, setAsked] = useState(false);
  const at = (seconds: number | null): string => (seconds === null ? "not yet" : moment(seconds * 1000, now));
  const usage = usageOf(row);
  return (
    <Panel title="Job" id="h-facts">
      <dl class="facts">
        <Fact name="Model">{told.model}</Fact>
        {row !== null && (
          <>
            <Fact name="Band">
              <BandMark band={row.band} /> <span class="dim">priority {row.priority}</span>
            </Fact>
            {row.caller !== null && <Fact name="Caller">{row.caller}</Fact>}
            <Fact name="Endpoint">
              <code>{row.endpoint}</code>
            </Fact>
          </>
        )}
        <Fact name="Accepted">{moment(told.from_ms, now)}</Fact>
        {row !== null && (
          <>
            <Fact name="Started">{at(row.started_at)}</Fact>
            <Fact name="Ended">{at(row.completed_at)}</Fact>
            <Fact name="Attempts">
              {row.attempts}
              {row.interruptions > 0 && <span class="dim">, {row.interruptions} lost through no fault of its own</span>}
            </Fact>
          </>
        )}
        <Fact name="Waited">{duration(told.wait_ms)}</Fact>
        <Fact name="Ran">{duration(told.run_ms)}</Fact>
        {usage !== null && <Fact name="Tokens">{usage}</Fact>}
        {row?.error != null && (
          <Fact name="Error">
            <span class="fault">{row.error.message}</span> <code>{row.error.code}</code>
          </Fact>
        )}
        {Object.entries(row?.metadata ?? {}).map(([key, value]) => (
          <Fact key={key} name={key}>
            {value}
          </Fact>
        ))}
        {row?.trace_id != null && (
          <Fact name="Trace">
            <code>{row.trace_id}</code>
          </Fact>
        )}
      </dl>
      {told.final && told.status === "completed" && (
        <details class="answer" onToggle={(event) => event.currentTarget.open && setAsked(true)}>
          <summary>Answer</summary>
          {asked && <Answer id={told.job} />}
        </details>
      )}
    </Panel>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: preact.ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** `442 in, 148 out`, where the answer lies in the row and says it. */
function usageOf(row: JobRow | null): string | null {
  const body = row?.response?.body as
    | { usage?: { prompt_tokens?: number; completion_tokens?: number } }
    | null
    | undefined;
  const usage = body?.usage;
  if (usage?.prompt_tokens === undefined || usage.completion_tokens === undefined) return null;
  return `${usage.prompt_tokens} in, ${usage.completion_tokens} out`;
}
