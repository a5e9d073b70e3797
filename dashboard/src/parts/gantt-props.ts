// What a Gantt chart is given to draw.

import type { MoveWire, SpanRow, TimelineWire } from "../../../src/client/wire-live.ts";
import type { LaneDevice } from "./gantt-layout.ts";

export interface Planned {
  readonly device: string;
  readonly model: string;
  readonly fromMs: number;
  readonly toMs: number;
}

export interface GanttProps {
  /** Names the picture, e.g. "What gpu0 did meanwhile". */
  readonly title: string;
  readonly devices: readonly LaneDevice[];
  readonly spans: readonly SpanRow[];
  readonly moves?: readonly MoveWire[];
  readonly pauses?: TimelineWire["pauses"];
  readonly downtimes?: TimelineWire["downtimes"];
  readonly fromMs: number;
  readonly toMs: number;
  /** Nothing is drawn behind it; its line is drawn when it is in sight. */
  readonly nowMs: number;
  readonly compact?: boolean;
  /** A stretch to look at, e.g. a job's life. */
  readonly shade?: { readonly fromMs: number; readonly toMs: number };
  readonly lines?: readonly { readonly atMs: number; readonly label: string }[];
  /** What is expected: an outline. */
  readonly planned?: readonly Planned[];
  /** The decision that the page is about. */
  readonly marked?: string;
}
