// What the scheduler counts as taken of a device's memory: a block for each model, and what is free.

import type { DeviceStatusWire, ModelStatusWire } from "../../../src/client/wire-status.ts";
import { MODEL_STATE, modelState } from "./model-state.ts";

interface MemoryStackProps {
  readonly device: DeviceStatusWire;
  /** Those that hold memory of it. */
  readonly models: readonly ModelStatusWire[];
}

export function MemoryStack({ device, models }: MemoryStackProps) {
  const { memory_gib: whole, claimed_gib: claimed } = device;
  if (whole === null || claimed === null) {
    return <p class="quiet-line">Its memory is not configured, so it holds one model at a time.</p>;
  }
  const free = Math.max(0, whole - claimed);
  const said = models.map((model) => `${model.label} ${gib(shareOf(model, claimed, models.length))}`).join(", ");
  return (
    <div
      class="memory-stack"
      role="img"
      aria-label={`Memory: ${said === "" ? "nothing loaded" : said}; ${gib(free)} of ${gib(whole)} free`}
    >
      {models.map((model) => {
        const own = shareOf(model, claimed, models.length);
        return (
          <span
            key={model.id}
            class={`m-${modelState(model)}`}
            style={{ width: `${(100 * own) / whole}%` }}
            title={`${model.label}: ${MODEL_STATE[modelState(model)]}, ${gib(own)}`}
          >
            <b>{model.label}</b>
            <span>{gib(own)}</span>
          </span>
        );
      })}
      <span class="free">
        <span>{gib(free)} free</span>
      </span>
    </div>
  );
}

/** Its footprint is split evenly over the devices it lies across; without one it takes what is claimed. */
function shareOf({ memory_gib: own, devices }: ModelStatusWire, claimed: number, count: number): number {
  return own === null ? claimed / count : own / Math.max(1, devices.length);
}

function gib(value: number): string {
  return `${Math.round(value * 10) / 10}\u00a0GiB`;
}
