// What the inks, textures and shapes of the Gantt chart mean.

import type { SpanPhase } from "../../../src/client/wire-live.ts";
import { PHASE_CLASS, PHASES } from "./phase.ts";

const SHOWN: readonly SpanPhase[] = ["serving", "idle", "loading", "draining", "unloading", "failed"];

export function GanttLegend() {
  return (
    <ul class="legend" aria-label="Legend">
      {SHOWN.map((phase) => (
        <li key={phase}>
          <i class={`key ${PHASE_CLASS[phase]}`} aria-hidden="true" />
          {PHASES[phase]}
        </li>
      ))}
      <li>
        <i class="key c-paused" aria-hidden="true" />
        Paused
      </li>
      <li>
        <MarkKey d="M7 0l7 7l-7 7l-7 -7z" class="g-diamond" />
        Swap
      </li>
      <li>
        <MarkKey d="M7 0l7 7l-7 7l-7 -7z" class="g-diamond forced" bang />
        Swap forced by the ceiling
      </li>
      <li>
        <svg width="14" height="14" aria-hidden="true">
          <circle class="g-ring" cx="7" cy="7" r="5" />
        </svg>
        Load beside the others
      </li>
      <li>
        <MarkKey d="M1 3h12l-6 9z" class="g-diamond" />
        Unload
      </li>
    </ul>
  );
}

function MarkKey({
  d,
  class: name,
  bang = false,
}: {
  readonly d: string;
  readonly class: string;
  readonly bang?: boolean;
}) {
  return (
    <svg width="14" height="14" aria-hidden="true">
      <path class={name} d={d} />
      {bang && (
        <text class="g-bang" x="7" y="10.5" text-anchor="middle">
          !
        </text>
      )}
    </svg>
  );
}
