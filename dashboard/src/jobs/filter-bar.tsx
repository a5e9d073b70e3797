// The filters of the jobs' list in one line. What is chosen goes into the address, and is read from there.

import { useEffect, useRef, useState } from "preact/hooks";
import type { StatusWire } from "../../../src/client/wire-status.ts";
import { useSelected } from "../cell.ts";
import { status } from "../live/state.ts";
import { CAUSE_TITLES } from "../parts/cause.ts";
import { Segmented } from "../parts/panel.tsx";
import { BANDS } from "../parts/state-mark.tsx";
import { setQuery } from "../route.ts";
import { type JobFilters, STATUSES } from "./filters.ts";

const TYPING_MS = 250;

export function FilterBar({ filters }: { readonly filters: JobFilters }) {
  const models = useSelected(status, modelsOf);
  return (
    <div class="filters">
      <Segmented
        label="Status"
        value={filters.status}
        options={STATUSES}
        onChange={(value) => setQuery({ status: value })}
      />
      <Choice
        label="Model"
        name="model"
        value={filters.model}
        all="Every model"
        options={(models ?? []).map(({ id, label }) => [id, label])}
      />
      <Choice
        label="Band"
        name="band"
        value={filters.band}
        all="Every band"
        options={BANDS.map((band) => [band, band])}
      />
      <Choice
        label="Waited mostly"
        name="cause"
        value={filters.cause}
        all="Any cause"
        options={Object.entries(CAUSE_TITLES).filter(([cause]) => cause !== "running")}
      />
      <Typed name="caller" label="Caller, by its exact name" placeholder="Caller" value={filters.caller} />
      <Typed name="q" label="Find by job id or client request id" placeholder="Id  ( / )" value={filters.q} id="find" />
    </div>
  );
}

const modelsOf = (now: StatusWire | null): StatusWire["models"] | null => now?.models ?? null;

interface ChoiceProps {
  readonly label: string;
  readonly name: string;
  readonly value: string;
  readonly all: string;
  readonly options: readonly (readonly [value: string, text: string])[];
}

function Choice({ label, name, value, all, options }: ChoiceProps) {
  // What the address asks for is shown even where it is not known (any more).
  const known = value === "" || options.some(([each]) => each === value);
  return (
    <select aria-label={label} value={value} onChange={(event) => setQuery({ [name]: event.currentTarget.value })}>
      <option value="">{all}</option>
      {options.map(([each, text]) => (
        <option key={each} value={each}>
          {text}
        </option>
      ))}
      {!known && <option value={value}>{value}</option>}
    </select>
  );
}

interface TypedProps {
  readonly name: string;
  readonly label: string;
  readonly placeholder: string;
  readonly value: string;
  readonly id?: string;
}

/** Asks once typing has paused. */
function Typed({ name, label, placeholder, value, id }: TypedProps) {
  const [text, setText] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  const written = useRef(value);
  useEffect(() => {
    // The address changed by other means than this field.
    if (value !== written.current) setText(value);
    written.current = value;
  }, [value]);
  const write = (next: string): void => {
    written.current = next.trim();
    setQuery({ [name]: next.trim() });
  };
  const type = (next: string): void => {
    setText(next);
    if (timer.current !== null) clearTimeout(timer.current);
    timer.current = setTimeout(() => write(next), TYPING_MS);
  };
  return (
    <input
      {...(id === undefined ? {} : { id })}
      type="search"
      autocomplete="off"
      spellcheck={false}
      aria-label={label}
      placeholder={placeholder}
      value={text}
      onInput={(event) => type(event.currentTarget.value)}
      onKeyDown={(event) => event.key === "Escape" && event.currentTarget.blur()}
    />
  );
}
