// What loading a model really takes, against what the configuration guessed: the newest loads as bars, the guess as a line.

import type { ModelStatusWire } from "../../../src/client/wire-status.ts";
import { quantity } from "../../../src/scheduler/wording.ts";
import { duration } from "../parts/time.ts";

const BAR = 6;
const STEP = 9;
const HEIGHT = 30;

export function LoadTime({ model }: { readonly model: ModelStatusWire }) {
  const { guess_seconds: guess, median_seconds: median, p90_seconds: p90, count, last_seconds: last } = model.loads;
  const measured = median !== null && count > 0;
  return (
    <div class="load-time">
      <p>
        <b>{measured ? `Loads in ${duration(median * 1000)}` : "Load time not measured yet"}</b>
        <small>
          {measured && count > 1 && `median of ${quantity(count, "load")}`}
          {measured && count === 1 && "measured once"}
          {measured && p90 !== null && count > 1 && `, 9 of 10 within ${duration(p90 * 1000)}`}
          {measured ? "; " : "it counts as "}
          {measured ? "configured as " : ""}
          {duration(guess * 1000)}
          {measured ? "" : ", as configured"}
        </small>
      </p>
      {last.length > 1 && <Spark last={last} guess={guess} />}
    </div>
  );
}

function Spark({ last, guess }: { readonly last: readonly number[]; readonly guess: number }) {
  const top = Math.max(guess, ...last) * 1.1;
  const width = last.length * STEP;
  const y = (seconds: number): number => HEIGHT - (HEIGHT * seconds) / top;
  const said = last.map((seconds) => duration(seconds * 1000)).join(", ");
  return (
    <svg
      class="spark"
      width={width}
      height={HEIGHT}
      role="img"
      aria-label={`The last loads: ${said}. Configured: ${duration(guess * 1000)}`}
    >
      {last.map((seconds, index) => (
        <rect
          // Loads have no name; the newest is the last.
          key={`${index - last.length}`}
          x={index * STEP}
          y={y(seconds)}
          width={BAR}
          height={HEIGHT - y(seconds)}
          rx="1"
        />
      ))}
      <line x1="0" x2={width} y1={y(guess)} y2={y(guess)} />
    </svg>
  );
}
