// The question before a job is cancelled.

import { postJson } from "../api.ts";
import { Confirm } from "../parts/confirm.tsx";

interface AskCancelProps {
  readonly id: string;
  readonly running: boolean;
  close(): void;
}

export function AskCancel({ id, running, close }: AskCancelProps) {
  return (
    <Confirm
      title="Cancel this job?"
      verb="Cancel the job"
      keep="Keep it"
      act={() => postJson(`v1/jobs/${encodeURIComponent(id)}/cancel`)}
      close={close}
    >
      <p>
        {running
          ? "It runs: the engine is told to stop, and what it has written is thrown away."
          : "It has not started: it leaves the queue."}{" "}
        Its caller is told that it was cancelled. This cannot be taken back.
      </p>
      <p class="mono dim">{id}</p>
    </Confirm>
  );
}
