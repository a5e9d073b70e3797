// Five figures: what waits, the longest wait, what was done, what swapping costs, how good the estimates were.

import type { ComponentChildren } from "preact";
import type { DeviceStatusWire, StatusWire } from "../../../src/client/wire-status.ts";
import { jobs, percent, quantity } from "../../../src/scheduler/wording.ts";
import { useSelected } from "../cell.ts";
import { useNow } from "../clock.ts";
import { ageMs, status } from "../live/state.ts";
import { titleOfCause } from "../parts/cause.ts";
import { shortened } from "../parts/gantt-layout.ts";
import { duration } from "../parts/time.ts";

const NAME_LETTERS = 32;

export function Figures() {
  const totals = useSelected(status, (value) => value?.totals ?? null);
  const busiest = useSelected(status, (value) => (value === null ? null : mostSwapping(value.devices)));
  if (totals === null) return <FigureGhosts />;
  const error = totals.estimate_error_1h;
  return (
    <dl class="figures">
      <Figure name="Waiting" value={totals.waiting} more={`${totals.running} running`} />
      <LongestWait totals={totals} />
      <Figure
        name="Done in the last hour"
        value={totals.done_1h}
        more={endedOtherwise(totals)}
        bad={totals.failed_1h > 0}
      />
      {busiest !== null && (
        <Figure
          name={`${busiest.id} spent swapping, last hour`}
          value={percent(busiest.swap_share_1h)}
          more={quantity(busiest.swaps_1h, "swap")}
        />
      )}
      <Figure
        name="Estimates were off by"
        value={error === null ? "–" : percent(error)}
        more={error === null ? "too few to tell" : "half of them by less"}
      />
    </dl>
  );
}

/** What callers never polled for surprises them most. */
function endedOtherwise({ failed_1h, lapsed_1h }: StatusWire["totals"]): string {
  const failed = failed_1h === 0 ? "none failed" : `${jobs(failed_1h)} failed`;
  return lapsed_1h > 0 ? `${failed}, ${lapsed_1h} not polled` : failed;
}

function LongestWait({ totals }: { readonly totals: StatusWire["totals"] }) {
  const now = useNow();
  const models = useSelected(status, (value) => value?.models ?? null);
  const longest = totals.longest_wait;
  if (longest === null) return <Figure name="Longest wait" value="–" more="nothing waits" />;
  const label = models?.find(({ id }) => id === longest.model)?.label ?? longest.model;
  return (
    <Figure
      name="Longest wait"
      value={duration(ageMs(totals, longest.seconds, now))}
      more={`${shortened(label, NAME_LETTERS)}: ${titleOfCause(longest.cause)}`}
    />
  );
}

interface FigureProps {
  readonly name: string;
  readonly value: ComponentChildren;
  readonly more: string;
  readonly bad?: boolean;
}

function Figure({ name, value, more, bad = false }: FigureProps) {
  return (
    <div class={bad ? "is-bad" : ""}>
      <dt>{name}</dt>
      <dd>
        {value}
        <small>{more}</small>
      </dd>
    </div>
  );
}

const NAMES = [
  "Waiting",
  "Longest wait",
  "Done in the last hour",
  "Spent swapping, last hour",
  "Estimates were off by",
];

function FigureGhosts() {
  return (
    <dl class="figures">
      {NAMES.map((name) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <span class="ghost w-60" />
            <small>&nbsp;</small>
          </dd>
        </div>
      ))}
    </dl>
  );
}

function mostSwapping(devices: readonly DeviceStatusWire[]): DeviceStatusWire | null {
  return devices.reduce<DeviceStatusWire | null>(
    (most, device) => (most === null || device.swap_share_1h > most.swap_share_1h ? device : most),
    null,
  );
}
