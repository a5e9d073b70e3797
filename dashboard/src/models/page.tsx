// What this machine can run: what is loaded, what each model needs and costs to load, and the acts of an operator.

import type { DeviceStatusWire, ModelStatusWire } from "../../../src/client/wire-status.ts";
import { quantity } from "../../../src/scheduler/wording.ts";
import { useSelected } from "../cell.ts";
import { status } from "../live/state.ts";
import { holdersOf } from "../parts/holders.ts";
import { Panel } from "../parts/panel.tsx";
import { DevicePause } from "./device-pause.tsx";
import { MemoryStack } from "./memory-stack.tsx";
import { ModelCard } from "./model-card.tsx";
import "./models.css";

export function ModelsPage() {
  const models = useSelected(status, (value) => value?.models ?? null);
  const devices = useSelected(status, (value) => value?.devices ?? null);
  const known = models !== null && devices !== null;
  return (
    <>
      <header class="page-head">
        <h1>Models</h1>
        {known && (
          <p>
            {quantity(models.length, "model")} on {quantity(devices.length, "device")}
          </p>
        )}
      </header>
      {known ? <Devices models={models} devices={devices} /> : <span class="ghost tallest" />}
    </>
  );
}

interface DevicesProps {
  readonly models: readonly ModelStatusWire[];
  readonly devices: readonly DeviceStatusWire[];
}

function Devices({ models, devices }: DevicesProps) {
  const elsewhere = models.filter(({ homes }) => homes.length === 0);
  return (
    <>
      {devices.map((device) => (
        <DevicePanel
          key={device.id}
          device={device}
          models={models.filter((model) => homeOf(model) === device.id)}
          all={models}
        />
      ))}
      {elsewhere.length > 0 && (
        <Panel title="Always on elsewhere" id="h-elsewhere">
          <ul class="models">
            {elsewhere.map((model) => (
              <ModelCard key={model.id} model={model} />
            ))}
          </ul>
        </Panel>
      )}
    </>
  );
}

/** A model stands once: where it is, else where it comes first. */
function homeOf({ device, homes }: ModelStatusWire): string | null {
  return device ?? homes[0] ?? null;
}

interface DevicePanelProps {
  readonly device: DeviceStatusWire;
  readonly models: readonly ModelStatusWire[];
  readonly all: readonly ModelStatusWire[];
}

function DevicePanel({ device, models, all }: DevicePanelProps) {
  const loaded = holdersOf(device, all);
  return (
    <Panel title={device.id} id={`h-${device.id}`} aside={<DevicePause device={device} />}>
      <MemoryStack device={device} models={loaded} />
      <ul class="models">
        {models.map((model) => (
          <ModelCard key={model.id} model={model} />
        ))}
      </ul>
      {models.length === 0 && <p class="quiet-line">No model begins here.</p>}
    </Panel>
  );
}
