// What stands above a page when it is not true to the second: the connection is lost, or the router goes down. The last
// known state stays below it.

import { useEffect, useState } from "preact/hooks";
import { useCell, useSelected } from "./cell.ts";
import { nowMs } from "./clock.ts";
import { status } from "./live/state.ts";
import { type Connection, connect, connection } from "./live/stream.ts";
import { clock, duration } from "./parts/time.ts";

export function Banner() {
  const line = useCell(connection);
  const known = useSelected(status, (value) => value !== null);
  const draining = useSelected(status, (value) => value?.draining === true);
  if (line.state === "lost") return <Lost line={line} known={known} />;
  if (draining) {
    return (
      <div class="banner" role="status">
        <p>
          <b>The router takes no new work.</b> What runs may finish; what waits is kept for its next start.
        </p>
      </div>
    );
  }
  return null;
}

function Lost({ line, known }: { readonly line: Extract<Connection, { state: "lost" }>; readonly known: boolean }) {
  const ms = useElapsed();
  const seconds = Math.max(0, Math.ceil((line.atMs - ms) / 1000));
  return (
    // Only the headline is announced: the seconds would be read out one by one.
    <div class="banner">
      <p>
        <b role="status">{headline(line)}</b> {known ? `This is the state of ${clock(nowMs())}. ` : ""}
        {line.sinceMs < ms - 1000 && `Lost for ${duration(Math.floor((ms - line.sinceMs) / 1000) * 1000)}. `}
        {seconds === 0 ? "Trying now." : `Trying again in ${duration(seconds * 1000)}.`}
      </p>
      <button type="button" class="button" onClick={connect}>
        Try now
      </button>
    </div>
  );
}

function headline({ error }: Extract<Connection, { state: "lost" }>): string {
  if (error.status === 0) return "Connection lost.";
  if (error.status === 403) return `This key may not watch. ${error.message}`;
  return `The router answered ${error.status}: ${error.message}`;
}

/** `performance.now()`, twice a second: the router's clock stands still while nothing is heard. */
function useElapsed(): number {
  const [ms, setMs] = useState(performance.now());
  useEffect(() => {
    const timer = setInterval(() => setMs(performance.now()), 500);
    return () => clearInterval(timer);
  }, []);
  return ms;
}
