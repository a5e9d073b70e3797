// Load, unload, pin. What is asked for is a wish: the scheduler carries it out, and the decision says how.

import { useState } from "preact/hooks";
import type { ModelStatusWire } from "../../../src/client/wire-status.ts";
import { quantity } from "../../../src/scheduler/wording.ts";
import { useSelected } from "../cell.ts";
import { status } from "../live/state.ts";
import { Confirm } from "../parts/confirm.tsx";
import { href } from "../route.ts";
import { useAct } from "./acts.ts";

const HERE = new Set(["resident", "loading", "draining", "unloading"]);

export function ModelActs({ model }: { readonly model: ModelStatusWire }) {
  const { id, label, state, pinned, running } = model;
  const act = useAct(`${state} ${pinned}`);
  const [asks, setAsks] = useState(false);
  const path = (verb: string): string => `admin/models/${encodeURIComponent(id)}/${verb}`;
  const unload = (): Promise<void> => act.ask(path("unload"), "Unload asked for");
  return (
    <div class="acts">
      <div class="tools">
        <button
          type="button"
          class="button"
          disabled={HERE.has(state)}
          onClick={() => act.ask(path("load"), "Load asked for")}
        >
          Load<span class="sr"> {label}</span>
        </button>
        <button
          type="button"
          class="button"
          disabled={state !== "resident" && state !== "loading"}
          onClick={() => (running > 0 ? setAsks(true) : unload())}
        >
          Unload<span class="sr"> {label}</span>
        </button>
        <button
          type="button"
          class="button"
          aria-pressed={pinned}
          onClick={() => act.ask(path(pinned ? "unpin" : "pin"), pinned ? "Unpin asked for" : "Pin asked for")}
        >
          {pinned ? "Unpin" : "Pin"}
          <span class="sr"> {label}</span>
        </button>
      </div>
      <p class="note" role="status">
        {act.asked !== null && <Asked words={act.asked} model={model} />}
      </p>
      {act.refused !== null && (
        <p class="fault small" role="alert">
          Refused: {act.refused}
        </p>
      )}
      {asks && (
        <Confirm title={`Unload ${label}?`} verb="Unload" keep="Leave it" act={unload} close={() => setAsks(false)}>
          {running === 1 ? "The job that runs finishes first." : `${quantity(running, "job")} that run finish first.`}{" "}
          What waits for it stays in the queue and will load it again.
        </Confirm>
      )}
    </div>
  );
}

/** The wish, and why it is not carried out yet where that is known. */
function Asked({ words, model }: { readonly words: string; readonly model: ModelStatusWire }) {
  const device = useSelected(status, (value) => value?.devices.find(({ id }) => id === model.homes[0]) ?? null);
  const decision = device?.decision ?? null;
  const own = decision?.models.find((each) => each.model === model.id) ?? null;
  return (
    <>
      {words}.{" "}
      {own?.why_not != null && decision !== null && (
        <a href={href(["decisions", decision.id])}>Why it is not done yet</a>
      )}
    </>
  );
}
