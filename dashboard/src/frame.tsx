// The parts of the frame that stay while pages come and go.

import { useEffect, useRef } from "preact/hooks";
import { useCell } from "./cell.ts";
import { useNow } from "./clock.ts";
import { connection, setPaused } from "./live/stream.ts";
import { PAGES } from "./pages.tsx";
import { clock, foreignZone } from "./parts/time.ts";
import { useRoute } from "./route.ts";
import { flipTheme, theme } from "./theme.ts";

export function Navigation() {
  const current = useRoute().path[0] ?? "";
  return (
    <nav aria-label="Main">
      {PAGES.map(({ path, name, key, icon }) => (
        <a key={path} href={`#/${path}`} aria-current={path === current ? "page" : undefined}>
          <svg viewBox="0 0 24 24" aria-hidden="true">
            <path d={icon} />
          </svg>
          <span>{name}</span>
          <small aria-hidden="true">g {key}</small>
        </a>
      ))}
    </nav>
  );
}

const WORDS = {
  live: "Live",
  paused: "Paused",
  hidden: "Asleep",
  connecting: "Connecting",
  lost: "Not connected",
} as const;

export function Foot({ showHelp }: { showHelp(): void }) {
  const { state } = useCell(connection);
  const dark = useCell(theme) === "dark";
  const now = useNow();
  const paused = state === "paused";
  return (
    <div class="foot">
      <button
        type="button"
        class={`live is-${state}`}
        aria-pressed={paused}
        title={paused ? "Go on (p)" : "Hold still (p)"}
        onClick={() => setPaused(!paused)}
      >
        <i aria-hidden="true" />
        <span>{WORDS[state]}</span>
        <small>{now === 0 ? "" : `${clock(now)} ${foreignZone(now)}`.trim()}</small>
      </button>
      <button
        type="button"
        class="icon"
        onClick={flipTheme}
        aria-label={dark ? "Use the light theme" : "Use the dark theme"}
      >
        {dark ? "☀" : "☾"}
      </button>
      <button type="button" class="icon help-button" onClick={showHelp} aria-label="Keys">
        ?
      </button>
    </div>
  );
}

const KEYS: readonly (readonly [keys: string, what: string])[] = [
  ["g, then n j d m w", "go to a page"],
  ["/", "find a job"],
  ["j k", "next, previous row"],
  ["Enter", "open the row"],
  ["← →", "next, previous decision on the timeline"],
  ["+ −", "shorter, longer stretch of time"],
  ["[ ] 0", "earlier, later, now"],
  ["p", "hold still, go on"],
  ["t", "light or dark"],
  ["Esc", "close"],
];

export function KeyHelp({ close }: { close(): void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} onClose={close} aria-labelledby="h-keys">
      <h2 id="h-keys">Keys</h2>
      <dl class="keys">
        {KEYS.map(([keys, what]) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <form method="dialog">
        <button type="submit" class="button">
          Close
        </button>
      </form>
    </dialog>
  );
}
