// A question before something that cannot be taken back. The browser's own dialog keeps the focus inside and gives it
// back to whoever had it.

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError } from "../api.ts";

interface ConfirmProps {
  readonly title: string;
  /** What will happen, also to what runs. */
  readonly children: ComponentChildren;
  /** On the button that does it. */
  readonly verb: string;
  /** On the button that does not. */
  readonly keep: string;
  act(): Promise<unknown>;
  close(): void;
}

export function Confirm({ title, children, verb, keep, act, close }: ConfirmProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [state, setState] = useState<"asking" | "acting" | ApiError>("asking");
  useEffect(() => dialog.current?.showModal(), []);
  const go = (): void => {
    setState("acting");
    act().then(
      () => dialog.current?.close(),
      (error: unknown) => setState(error instanceof ApiError ? error : new ApiError(String(error), 0, "unknown", null)),
    );
  };
  return (
    <dialog ref={dialog} class="confirm" onClose={close} aria-labelledby="h-confirm" aria-describedby="d-confirm">
      <h2 id="h-confirm">{title}</h2>
      <div id="d-confirm">{children}</div>
      {state instanceof ApiError && (
        <p class="fault" role="alert">
          {state.message}
        </p>
      )}
      <div class="tools">
        <button type="button" class="button danger" disabled={state === "acting"} onClick={go}>
          {verb}
        </button>
        <button type="button" class="button" onClick={() => dialog.current?.close()}>
          {keep}
        </button>
      </div>
    </dialog>
  );
}
