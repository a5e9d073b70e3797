// Copies a text. On plain HTTP there is no clipboard to ask; there the old way of a selection does it.

import { useRef, useState } from "preact/hooks";
import { useKeys } from "../typing.ts";

const SAID_MS = 2_000;

interface CopyButtonProps {
  readonly text: string;
  readonly label: string;
  /** A key that does the same. */
  readonly shortcut?: string;
}

export function CopyButton({ text, label, shortcut }: CopyButtonProps) {
  const [said, setSaid] = useState<"copied" | "failed" | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  const copy = (): void => {
    void copyText(text).then((done) => {
      setSaid(done ? "copied" : "failed");
      if (timer.current !== null) clearTimeout(timer.current);
      timer.current = setTimeout(() => setSaid(null), SAID_MS);
    });
  };
  useKeys((event) => {
    if (event.key !== shortcut) return;
    event.preventDefault();
    copy();
  });
  const words = said === null ? label : said === "copied" ? "Copied" : "Could not copy";
  return (
    <button
      type="button"
      class="button"
      onClick={copy}
      {...(shortcut === undefined ? {} : { "aria-keyshortcuts": shortcut })}
    >
      <span aria-live="polite">{words}</span>
    </button>
  );
}

/** False: the browser did not let it. */
async function copyText(text: string): Promise<boolean> {
  const clipboard = navigator.clipboard as Clipboard | undefined;
  if (clipboard !== undefined) {
    try {
      await clipboard.writeText(text);
      return true;
    } catch {
      // Not allowed here; the other way may be.
    }
  }
  const focused = document.activeElement;
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "sr";
  document.body.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return done;
}
