// What a route answers, as a value that a drawing follows. While it is read anew the last answer stays.

import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError, getJson } from "../api.ts";

export interface Loaded<T> {
  /** Null until the first answer to this very address. */
  readonly data: T | null;
  readonly error: ApiError | null;
  readonly loading: boolean;
  reload(): void;
}

interface Held<T> {
  readonly path: string | null;
  readonly data: T | null;
  readonly error: ApiError | null;
  readonly loading: boolean;
}

/** @param path Null: nothing is asked. @param version Another one: it is read anew. */
export function useLoaded<T>(path: string | null, version: number = 0): Loaded<T> {
  const [held, setHeld] = useState<Held<T>>({ path, data: null, error: null, loading: path !== null });
  const [again, setAgain] = useState(0);
  const reload = useRef(() => setAgain((count) => count + 1)).current;
  useEffect(() => {
    if (path === null) return;
    const leave = new AbortController();
    setHeld((last) =>
      last.path === path ? { ...last, loading: true } : { path, data: null, error: null, loading: true },
    );
    getJson<T>(path, leave.signal).then(
      (data) => setHeld({ path, data, error: null, loading: false }),
      (error: unknown) => {
        if (leave.signal.aborted) return;
        const told = error instanceof ApiError ? error : new ApiError(String(error), 0, "unknown", null);
        setHeld((last) => ({ path, data: last.path === path ? last.data : null, error: told, loading: false }));
      },
    );
    return () => leave.abort();
  }, [path, version, again]);
  const current = held.path === path ? held : { data: null, error: null, loading: path !== null };
  return { data: current.data, error: current.error, loading: current.loading, reload };
}
