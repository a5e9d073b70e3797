// An operator's act: what was asked for stands until the router shows its effect; a refusal stands until the next try.

import { useEffect, useState } from "preact/hooks";
import { ApiError, postJson } from "../api.ts";

export interface Act {
  /** What was asked for and has not shown yet, in words; null: nothing. */
  readonly asked: string | null;
  readonly refused: string | null;
  /** Never rejects. Posts to `path`; `words` stand there meanwhile. */
  ask(path: string, words: string, body?: unknown): Promise<void>;
}

/** @param effect What changes once the act shows, e.g. the model's state. */
export function useAct(effect: string): Act {
  const [asked, setAsked] = useState<string | null>(null);
  const [refused, setRefused] = useState<string | null>(null);
  useEffect(() => setAsked(null), [effect]);
  const ask = (path: string, words: string, body?: unknown): Promise<void> => {
    setAsked(words);
    setRefused(null);
    return postJson(path, body).then(
      () => undefined,
      (error: unknown) => {
        setAsked(null);
        setRefused(error instanceof ApiError ? error.message : "The router could not be asked.");
      },
    );
  };
  return { asked, refused, ask };
}
