// Waits by band and by model, what was paid for them, and the jobs that move the most, both ways.

import type { Moved, Waits } from "../../../src/client/wire-replay.ts";
import { shortId } from "../jobs/row.tsx";
import { Panel } from "../parts/panel.tsx";
import { BANDS, BandMark } from "../parts/state-mark.tsx";
import { href } from "../route.ts";
import { Delta } from "./delta.tsx";
import type { Sides } from "./report.ts";

interface SidesProps {
  readonly sides: Sides;
  labelOf(model: string): string;
}

export function BandTable({ sides }: Pick<SidesProps, "sides">) {
  const { before, after } = sides;
  const shown = BANDS.filter((band) => before.bands[band].jobs > 0);
  return (
    <div class="wide-table">
      <table class="data compare">
        <thead>
          <tr>
            <th>Waits by band</th>
            <th class="num">Jobs</th>
            <th class="num">Median</th>
            <th class="num">p99</th>
            <th class="num">Longest</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((band) => (
            <tr key={band} data-band={band}>
              <th scope="row">
                <BandMark band={band} />
              </th>
              <td class="num dim">{before.bands[band].jobs}</td>
              <WaitCells before={before.bands[band]} after={after.bands[band]} />
            </tr>
          ))}
        </tbody>
      </table>
      <table class="data compare">
        <thead>
          <tr>
            <th>What it costs</th>
            <th class="num">Swaps</th>
            <th class="num">Loads</th>
            <th class="num">Time spent loading</th>
            <th class="num">Deadlines missed</th>
          </tr>
        </thead>
        <tbody>
          <tr data-costs="all">
            <th scope="row">All devices</th>
            <Delta name="Swaps" before={before.swaps} after={after.swaps} unit="count" />
            <Delta name="Loads" before={before.loads} after={after.loads} unit="count" />
            <Delta name="Time spent loading" before={before.loadingShare} after={after.loadingShare} unit="share" />
            <Delta name="Deadlines missed" before={before.deadlineMisses} after={after.deadlineMisses} unit="count" />
          </tr>
        </tbody>
      </table>
    </div>
  );
}

function WaitCells({ before, after }: { readonly before: Waits; readonly after: Waits }) {
  return (
    <>
      <Delta name="Median" before={before.p50Seconds} after={after.p50Seconds} unit="s" />
      <Delta name="p99" before={before.p99Seconds} after={after.p99Seconds} unit="s" />
      <Delta name="Longest" before={before.maxSeconds} after={after.maxSeconds} unit="s" />
    </>
  );
}

export function ModelTable({ sides, labelOf }: SidesProps) {
  const { before, after } = sides;
  return (
    <Panel title="By model" id="h-by-model">
      <div class="wide-table">
        <table class="data compare">
          <thead>
            <tr>
              <th>Model</th>
              <th class="num">Jobs</th>
              <th class="num">Mean wait</th>
              <th class="num">p99</th>
            </tr>
          </thead>
          <tbody>
            {Object.entries(before.models).map(([model, was]) => {
              const is = after.models[model] ?? was;
              return (
                <tr key={model}>
                  <th scope="row" class="model-name">
                    {labelOf(model)}
                  </th>
                  <td class="num dim">{was.jobs}</td>
                  <Delta name="Mean wait" before={was.meanSeconds} after={is.meanSeconds} unit="s" />
                  <Delta name="p99" before={was.p99Seconds} after={is.p99Seconds} unit="s" />
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}

export function MovedTable({ sides, labelOf }: SidesProps) {
  const { other } = sides;
  return (
    <Panel title="Jobs that move the most" id="h-moved">
      {other === null || (other.gained === 0 && other.lost === 0) ? (
        <p class="dim">{other === null ? "None: nothing was changed." : "None by a second or more."}</p>
      ) : (
        <div class="wide-table">
          <table class="data compare">
            <thead>
              <tr>
                <th>Job</th>
                <th>Model and band</th>
                <th class="num">Wait</th>
              </tr>
            </thead>
            <MovedRows title={`Would have waited longer: ${other.lost}`} moved={other.lostMost} labelOf={labelOf} />
            <MovedRows title={`Would have waited less: ${other.gained}`} moved={other.gainedMost} labelOf={labelOf} />
          </table>
        </div>
      )}
    </Panel>
  );
}

interface MovedRowsProps {
  readonly title: string;
  readonly moved: readonly Moved[];
  labelOf(model: string): string;
}

function MovedRows({ title, moved, labelOf }: MovedRowsProps) {
  return (
    <tbody>
      <tr>
        <th colSpan={3} scope="rowgroup">
          {title}
        </th>
      </tr>
      {moved.map(({ id, model, band, beforeSeconds, afterSeconds }) => (
        <tr key={id}>
          <td>
            <a class="mono" href={href(["jobs", id])} title={id}>
              {shortId(id)}
            </a>
          </td>
          <td>
            {labelOf(model)} <BandMark band={band} />
          </td>
          <Delta name="Wait" before={beforeSeconds} after={afterSeconds} unit="s" />
        </tr>
      ))}
    </tbody>
  );
}
