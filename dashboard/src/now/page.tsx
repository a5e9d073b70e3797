// What the GPU does now, and why; what comes next; where the time of the last hours went.

import { useSelected } from "../cell.ts";
import { status } from "../live/state.ts";
import { DeviceCard, DeviceGhost } from "./device-card.tsx";
import { Feed } from "./feed.tsx";
import { Figures } from "./figures.tsx";
import { FirstRun } from "./first-run.tsx";
import { HistoryPanel } from "./history-panel.tsx";
import { QueuePanel } from "./queue-panel.tsx";
import "./now.css";

export function NowPage() {
  const known = useSelected(status, (value) => value !== null);
  const fresh = useSelected(status, (value) => value !== null && neverAsked(value));
  return (
    <>
      <h1 class="sr">Now</h1>
      <Devices />
      {fresh ? <FirstRun /> : <Figures />}
      <HistoryPanel />
      <div class="two">
        <QueuePanel />
        <Feed />
      </div>
      {!known && (
        <p class="sr" role="status">
          Asking the router
        </p>
      )}
    </>
  );
}

type Status = NonNullable<typeof status.value>;

function neverAsked({ store, queued, running, totals }: Status): boolean {
  return store.jobs === 0 && queued === 0 && running === 0 && totals.done_1h === 0 && totals.failed_1h === 0;
}

function Devices() {
  const devices = useSelected(status, (value) => value?.devices ?? null);
  return (
    <div class="devices">
      {devices === null ? <DeviceGhost /> : devices.map((device) => <DeviceCard key={device.id} device={device} />)}
    </div>
  );
}
