// Keys of a page: whether one is text for a field, and who hears it.

import { useLayoutEffect, useRef } from "preact/hooks";

/** True: the key is text for a field, or a command of the browser. */
export function isTyping(event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey) return true;
  return event.target instanceof Element && event.target.matches("input, select, textarea, dialog *");
}

/**
 * A page's own keys: heard from the moment that the page can be seen, not a frame later. Keys that are typed or were taken
 * already do not come.
 */
export function useKeys(take: (event: KeyboardEvent) => void): void {
  const latest = useRef(take);
  latest.current = take;
  useLayoutEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      if (!event.defaultPrevented && !isTyping(event)) latest.current(event);
    };
    addEventListener("keydown", listen);
    return () => removeEventListener("keydown", listen);
  }, []);
}
