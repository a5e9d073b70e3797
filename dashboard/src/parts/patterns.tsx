// The textures of states, once for the whole page, so that a state can be told without its colour.

interface Hatch {
  readonly id: string;
  readonly ink: string;
  readonly angle: number;
  readonly gap: number;
  readonly width: number;
}

const HATCHES: readonly Hatch[] = [
  { id: "p-loading", ink: "loading", angle: 45, gap: 6, width: 3 },
  { id: "p-draining", ink: "draining", angle: 0, gap: 5, width: 2 },
  { id: "p-unloading", ink: "draining", angle: 0, gap: 3, width: 1 },
  { id: "p-failed", ink: "bad", angle: -45, gap: 5, width: 2 },
  { id: "p-paused", ink: "quiet", angle: 90, gap: 4, width: 1 },
];

export function Patterns() {
  return (
    <svg class="patterns" width="0" height="0" aria-hidden="true">
      <defs>
        {HATCHES.map(({ id, ink, angle, gap, width }) => (
          <pattern
            key={id}
            id={id}
            width={gap}
            height={gap}
            patternUnits="userSpaceOnUse"
            patternTransform={`rotate(${angle})`}
          >
            <rect width={gap} height={gap} fill={`var(--${ink}-soft)`} />
            <rect width={width} height={gap} fill={`var(--${ink})`} />
          </pattern>
        ))}
      </defs>
    </svg>
  );
}
