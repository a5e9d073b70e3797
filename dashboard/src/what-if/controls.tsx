// One setting as something to move: a slider with the exact number beside it, a switch, a choice, a number for each band.
// What it does without a change is always said.

import type { ReplaySettingWire } from "../../../src/client/wire-live.ts";
import { BANDS } from "../parts/state-mark.tsx";
import { briefly, nameOf, valueText } from "./names.ts";
import { type Shape, shapeOf, stopsOf } from "./stops.ts";

interface ControlProps {
  readonly setting: ReplaySettingWire;
  /** Without a change. */
  readonly base: unknown;
  readonly value: unknown;
  /** The router refused this one. */
  readonly refused: boolean;
  change(value: unknown): void;
}

export function Control(props: ControlProps) {
  const { setting, base, value, refused } = props;
  const shape = shapeOf(setting.schema);
  if (shape === null) return null;
  const changed = JSON.stringify(value) !== JSON.stringify(base);
  const id = `set-${setting.key}`;
  return (
    <div class={`knob${changed ? " changed" : ""}${refused ? " refused" : ""}`}>
      <div class="knob-head">
        <label for={id}>{nameOf(setting.key)}</label>
        <code>{setting.key}</code>
        <output for={id}>{valueText(value, setting.unit)}</output>
      </div>
      <Field {...props} shape={shape} id={id} />
      <small id={`${id}-about`}>
        {briefly(setting)}.{changed && <b> Was {valueText(base, setting.unit)}.</b>}
      </small>
    </div>
  );
}

type FieldProps = ControlProps & { readonly shape: Shape; readonly id: string };

function Field(props: FieldProps) {
  const { shape, id, value, change, refused } = props;
  const about = { "aria-describedby": `${id}-about`, "aria-invalid": refused };
  switch (shape.kind) {
    case "switch":
      return (
        <input
          id={id}
          type="checkbox"
          checked={value === true}
          onChange={(event) => change(event.currentTarget.checked)}
          {...about}
        />
      );
    case "choice":
      return (
        <select
          id={id}
          value={String(value)}
          onChange={(event) => change(shape.values.find((each) => String(each) === event.currentTarget.value))}
          {...about}
        >
          {shape.values.map((each) => (
            <option key={String(each)} value={String(each)}>
              {each === false ? "off" : String(each)}
            </option>
          ))}
        </select>
      );
    case "number":
      return <NumberField {...props} shape={shape} />;
    case "bands":
      return <BandFields {...props} />;
  }
}

function NumberField(props: FieldProps & { readonly shape: Extract<Shape, { kind: "number" }> }) {
  const { shape, id, value, base, change, setting, refused } = props;
  const off = value === null;
  const numbers = [base, value, setting.default].filter((each): each is number => typeof each === "number");
  const stops = stopsOf(setting.unit, shape.bounds, numbers);
  const at = typeof value === "number" ? stops.indexOf(value) : 0;
  const name = nameOf(setting.key);
  return (
    <div class="knob-field">
      <input
        id={id}
        type="range"
        min={0}
        max={Math.max(0, stops.length - 1)}
        step={1}
        value={Math.max(0, at)}
        disabled={off}
        aria-valuetext={valueText(value, setting.unit)}
        aria-describedby={`${id}-about`}
        aria-invalid={refused}
        onInput={(event) => change(stops[Number(event.currentTarget.value)])}
      />
      <input
        type="number"
        class="knob-number"
        min={shape.bounds.least}
        max={shape.bounds.most}
        step="any"
        value={off ? "" : String(value)}
        disabled={off}
        aria-label={`${name}, exactly${setting.unit === "s" ? ", in seconds" : ""}`}
        onChange={(event) => {
          const typed = event.currentTarget.valueAsNumber;
          if (Number.isFinite(typed)) change(typed);
        }}
      />
      {shape.nullable && (
        <label class="knob-off">
          <input
            type="checkbox"
            checked={off}
            aria-label={`${name} off`}
            onChange={(event) => change(event.currentTarget.checked ? null : (numbers[0] ?? stops.at(-1)))}
          />
          off
        </label>
      )}
    </div>
  );
}

function BandFields({ id, value, change, setting }: FieldProps) {
  const held = (typeof value === "object" && value !== null ? value : {}) as Readonly<Record<string, number>>;
  return (
    // biome-ignore lint/a11y/useSemanticElements: three fields in a line, named by the setting above them
    <div class="knob-bands" role="group" aria-label={nameOf(setting.key)} id={id} tabIndex={-1}>
      {BANDS.map((band) => (
        <label key={band}>
          {band}
          <input
            type="number"
            min={0}
            step="any"
            value={String(held[band] ?? "")}
            onChange={(event) => {
              const typed = event.currentTarget.valueAsNumber;
              if (Number.isFinite(typed)) change({ ...held, [band]: typed });
            }}
          />
        </label>
      ))}
    </div>
  );
}
