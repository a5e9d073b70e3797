// Where a job stands, in one line: its place, what its model waits for, when it starts.

import type { Receipt } from "../client/wire.ts";
import type { ModelStatusWire } from "../client/wire-status.ts";
import type { Io } from "./command.ts";
import { startText } from "./job-text.ts";
import { span } from "./quantity.ts";
import { NONE } from "./table.ts";

/** @param model The status of its model, where it could be had. @param sinceMs how long ago the receipt came */
export function progressText(receipt: Receipt, model: ModelStatusWire | null, sinceMs: number, io: Io): string {
  const dot = io.screen.unicode ? " · " : " - ";
  if (receipt.status === "in_progress") {
    const lost = receipt.attempts > 1 ? [`attempt ${receipt.attempts}`] : [];
    const began = receipt.started_at === null ? [] : [span(io.clock.nowMs() - receipt.started_at * 1_000)];
    return ["running", ...began, ...lost].join(dot);
  }
  if (receipt.status !== "queued") return receipt.status;
  const parts = [placeText(receipt), reasonText(receipt, model, sinceMs), startsText(receipt, io)];
  return parts.filter((part) => part !== null).join(dot);
}

/** `3 of 5` among those of its model. */
function placeText({ queue }: Receipt): string {
  const position = queue?.position ?? null;
  if (position === null) return "queued";
  const all = queue?.queued ?? 0;
  return all > position ? `${position + 1} of ${all}` : `number ${position + 1}`;
}

function reasonText(receipt: Receipt, model: ModelStatusWire | null, sinceMs: number): string | null {
  const { queue } = receipt;
  if (queue === null) return null;
  const { loading, load_seconds, blocked, as_of, resident } = queue;
  if (loading !== null) {
    const spent = span((as_of - loading.since) * 1_000 + sinceMs);
    const share = loading.progress === null ? "" : ` (${Math.round(loading.progress * 100)} %)`;
    const leaves = /unload|stop|drain/.test(loading.phase);
    const expected = !leaves && loading.model === receipt.model ? ` of about ${span(load_seconds * 1_000)}` : "";
    return `${leaves ? "taking out" : "loading"} ${loading.model} ${spent}${expected}${share}`;
  }
  if (blocked !== null) {
    const again =
      blocked.retry_at === null ? "" : `, next try in ${span((blocked.retry_at - as_of) * 1_000 - sinceMs)}`;
    return `${blocked.reason.replaceAll("_", " ")}${again}`;
  }
  return causeText(model) ?? (resident ? "its model is loaded" : null);
}

function causeText(model: ModelStatusWire | null): string | null {
  const waiting = model?.waiting ?? null;
  if (waiting === null) return null;
  const by = waiting.by === null ? "" : ` ${waiting.by}`;
  switch (waiting.cause) {
    case "held":
      return by === "" ? "another model has the GPU" : `held by${by}`;
    case "draining":
      return by === "" ? "running jobs are finishing" : `running jobs of${by} are finishing`;
    case "unloading":
      return by === "" ? "memory is being freed" : `${by.trim()} is being unloaded`;
    case "own_queue":
      return "jobs of its own model are ahead";
    case "dispatch":
      return null;
    default:
      return waiting.cause.replaceAll("_", " ");
  }
}

function startsText(receipt: Receipt, io: Io): string | null {
  const text = startText(receipt, io);
  if (text === NONE) return null;
  const because = receipt.queue?.because ?? null;
  const later = because === null ? "" : `, later than it was: ${because}`;
  return text.startsWith("by ") ? `its turn comes ${text} at the latest` : `starts about ${text}${later}`;
}
