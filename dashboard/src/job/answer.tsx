// The stored answer, fetched when it is asked for: it may be long, and to fetch it counts as its caller having read it.

import { useEffect, useState } from "preact/hooks";
import { ApiError, call } from "../api.ts";

/** More of it is a download, not a look. */
const MOST_CHARACTERS = 20_000;

export function Answer({ id }: { readonly id: string }) {
  const [answer, setAnswer] = useState<string | ApiError | null>(null);
  useEffect(() => {
    const leave = new AbortController();
    read(id, leave.signal).then(setAnswer, (error: unknown) => {
      if (!leave.signal.aborted)
        setAnswer(error instanceof ApiError ? error : new ApiError(String(error), 0, "", null));
    });
    return () => leave.abort();
  }, [id]);
  if (answer === null) return <p class="dim">Reading …</p>;
  if (answer instanceof ApiError) {
    const words = answer.status === 404 ? "It belongs to another key, or was removed after its time." : answer.message;
    return <p class="dim">{words}</p>;
  }
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <pre tabIndex={0}>{answer.slice(0, MOST_CHARACTERS)}</pre>
      {answer.length > MOST_CHARACTERS && (
        <p class="dim">The rest is left out here; `sir submit` and the API have it.</p>
      )}
      <p class="note">Requests are kept for the engine alone and shown to nobody.</p>
    </>
  );
}

async function read(id: string, signal: AbortSignal): Promise<string> {
  const response = await call(`v1/jobs/${encodeURIComponent(id)}/result`, { signal });
  const type = response.headers.get("content-type") ?? "";
  if (!/json|text|event-stream/.test(type)) return `An answer of type ${type}, which is not shown here.`;
  const text = await response.text();
  try {
    return type.includes("json") ? JSON.stringify(JSON.parse(text), null, 2) : text;
  } catch {
    return text;
  }
}
