// Keys that work on every page. A page that has keys of its own listens for itself and marks an event as taken with
// `preventDefault`.

import { connection, setPaused } from "./live/stream.ts";
import { PAGES } from "./pages.tsx";
import { goTo } from "./route.ts";
import { flipTheme } from "./theme.ts";
import { isTyping } from "./typing.ts";

/** How long after `g` the second key may come. */
const CHORD_MS = 1200;

/** @returns what ends the listening. */
export function listenForKeys(showHelp: () => void): () => void {
  let chordAtMs = Number.NEGATIVE_INFINITY;
  const listen = (event: KeyboardEvent): void => {
    if (event.defaultPrevented || isTyping(event)) return;
    const chord = performance.now() - chordAtMs < CHORD_MS;
    chordAtMs = event.key === "g" ? performance.now() : Number.NEGATIVE_INFINITY;
    const page = chord ? PAGES.find(({ key }) => key === event.key) : undefined;
    if (page !== undefined) {
      event.preventDefault();
      goTo(`#/${page.path}`);
    } else if (event.key === "t") flipTheme();
    else if (event.key === "p") setPaused(connection.value.state !== "paused");
    else if (event.key === "?") showHelp();
    else if (event.key === "/") find(event);
  };
  addEventListener("keydown", listen);
  return () => removeEventListener("keydown", listen);
}

/** To the search of the page's jobs; from elsewhere by way of the jobs. */
function find(event: KeyboardEvent): void {
  event.preventDefault();
  const field = document.getElementById("find");
  if (field !== null) {
    field.focus();
    return;
  }
  // The page is drawn, and has taken the focus itself, when this listener's turn comes: before the next key.
  addEventListener("hashchange", () => document.getElementById("find")?.focus(), { once: true });
  goTo("#/jobs");
}
