// A device in one sentence: what it does, and why; what comes next, and by when at the latest.

import type { DeviceStatusWire } from "../../../src/client/wire-status.ts";
import { useSelected } from "../cell.ts";
import { status } from "../live/state.ts";
import { holdersOf } from "../parts/holders.ts";
import { memo } from "../parts/memo.tsx";
import { href } from "../route.ts";

export const DeviceCard = memo(function DeviceCard({ device }: { readonly device: DeviceStatusWire }) {
  const { id, phase, paused, summary, next } = device;
  const text = summary.text.trim();
  const what = text.slice(0, summary.what_length).trim();
  const why = text.slice(summary.what_length).trim();
  return (
    <section class={`device is-${paused ? "paused" : phase}`} aria-labelledby={`device-${id}`}>
      <header>
        <h2 id={`device-${id}`}>{id}</h2>
        <Memory device={device} />
      </header>
      <p class="say">
        <strong>{what === "" ? why : what}</strong> {what !== "" && why}{" "}
        {what !== "" && why !== "" && summary.decision !== null && (
          <a class="why-link" href={href(["decisions", summary.decision])}>
            How it was decided
          </a>
        )}
      </p>
      {next !== null && !isComing(device, next.model) && <p class="next">{next.text}</p>}
    </section>
  );
});

/** It is being brought in: the sentence says so already. */
function isComing({ phase, decision }: DeviceStatusWire, model: string): boolean {
  return decision?.load === model && ["draining", "unloading", "loading"].includes(phase);
}

/** What is claimed of the memory. One model at a time where its size is not known. */
function Memory({ device }: { readonly device: DeviceStatusWire }) {
  const { memory_gib: whole, claimed_gib: claimed } = device;
  const models = useSelected(status, (value) => value?.models ?? null);
  if (whole === null || claimed === null) return null;
  const held = holdersOf(device, models ?? []);
  const names = held
    .map(({ label, memory_gib: own }) => `${label}${own === null ? "" : ` ${own}\u00a0GiB`}`)
    .join(", ");
  return (
    <span class="memory" title={names}>
      <span class="memory-bar" role="img" aria-label={`Memory: ${names === "" ? "empty" : names}`}>
        {held.map(({ id, memory_gib: own }) => (
          <i key={id} style={{ width: `${(100 * (own ?? claimed)) / whole}%` }} />
        ))}
      </span>
      {claimed} of {whole}&nbsp;GiB claimed
    </span>
  );
}

/** Of the size that a card will have, so that nothing jumps. */
export function DeviceGhost() {
  return (
    <section class="device" aria-hidden="true">
      <header>
        <span class="ghost w-20" />
      </header>
      <p class="say">
        <span class="ghost w-80" />
        <span class="ghost w-60" />
      </p>
    </section>
  );
}
