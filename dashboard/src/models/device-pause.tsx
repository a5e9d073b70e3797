// Holds a device still, with a word for whoever wonders, and lets it go on.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { DeviceStatusWire } from "../../../src/client/wire-status.ts";
import { withQuery } from "../api.ts";
import { clock } from "../parts/time.ts";
import { useAct } from "./acts.ts";

export function DevicePause({ device }: { readonly device: DeviceStatusWire }) {
  const { id, pause, paused } = device;
  const [asks, setAsks] = useState(false);
  const [note, setNote] = useState("");
  const act = useAct(String(paused));
  const field = useRef<HTMLInputElement>(null);
  const opener = useRef<HTMLButtonElement>(null);
  const opened = useRef(false);
  // The button that had the focus is gone: it goes to the field, and back when that is gone; before the next key is typed.
  useLayoutEffect(() => {
    if (asks) field.current?.focus();
    else if (opened.current) opener.current?.focus();
    opened.current = asks;
  }, [asks]);
  const send = (event: Event): void => {
    event.preventDefault();
    setAsks(false);
    setNote("");
    void act.ask(
      withQuery("admin/pause", { device: id }),
      "Pause asked for",
      note.trim() === "" ? {} : { note: note.trim() },
    );
  };
  if (pause !== null) {
    const whole = pause.scope === "router";
    return (
      <div class="tools">
        <span class="note">
          {whole ? "The router is paused" : "Paused"} since {clock(pause.since * 1000)}
          {pause.who === "local" ? "" : ` by ${pause.who}`}
          {pause.note === null ? "" : `: ${pause.note}`}
        </span>
        <button
          type="button"
          class="button"
          onClick={() => act.ask(withQuery("admin/resume", { device: whole ? null : id }), "Resume asked for")}
        >
          Resume<span class="sr"> {whole ? "the router" : id}</span>
        </button>
        {act.refused !== null && <span class="fault small">Refused: {act.refused}</span>}
      </div>
    );
  }
  return (
    <div class="tools">
      {asks ? (
        <form class="tools" onSubmit={send}>
          <label class="sr" for={`note-${id}`}>
            Why {id} is paused
          </label>
          <input
            id={`note-${id}`}
            ref={field}
            type="text"
            maxLength={300}
            placeholder="Why? For whoever looks next"
            value={note}
            onInput={(event) => setNote(event.currentTarget.value)}
          />
          <button type="submit" class="button primary">
            Pause {id}
          </button>
          <button type="button" class="button" onClick={() => setAsks(false)}>
            Leave it
          </button>
        </form>
      ) : (
        <button type="button" class="button" ref={opener} onClick={() => setAsks(true)}>
          Pause<span class="sr"> {id}</span>
        </button>
      )}
      {act.refused !== null && (
        <span class="fault small" role="alert">
          Refused: {act.refused}
        </span>
      )}
    </div>
  );
}
