// How much of a batch is queued at a time, and of which models. The queue must never run dry between two looks at it, and
// no more than that may stand in front of other callers of the same band. A batch of several models goes through them one
// after the other: were all of them queued, the scheduler would have to weigh young lines of the model that is loaded
// against old lines of one that is not, and would swap back and forth.

/** Jobs of one caller that are queued or running of one model, whatever its batches hold. */
const LEAST_WINDOW = 64;
/** Windows full of slots: while one half of the window runs out, the other is queued. */
const SLOTS_AHEAD = 4;
const LEAST_SHARE = 8;
/** Lines in one commit. */
const MOST_FED = 256;

/** @param batches Of the same caller with lines for the same model; they share its window. */
export function windowOf(concurrency: number, batches: number): number {
  const window = Math.max(LEAST_WINDOW, SLOTS_AHEAD * concurrency);
  return Math.max(LEAST_SHARE, Math.ceil(window / Math.max(1, batches)));
}

/** How many lines to queue now: none while more than half the window is out. */
export function linesToFeed(window: number, out: number, waiting: number, room: number): number {
  if (out > window / 2) return 0;
  return Math.max(0, Math.min(window - out, waiting, room, MOST_FED));
}

/** What a batch has of one model. */
export interface ModelLines {
  readonly model: string;
  readonly waiting: number;
  readonly out: number;
  readonly concurrency: number;
  /** `ready`: loaded or being loaded. `free`: it takes no device, or fails at once. `stuck`: it will not be loaded soon. */
  readonly state: "ready" | "absent" | "free" | "stuck";
}

/**
 * The models whose lines may be queued now: those that cost no swap, those that are under way, and as many new ones as
 * there are devices for. The next one is begun when the last line of the one before it is running.
 */
export function modelsInTurn(all: readonly ModelLines[], devices: number): string[] {
  const underWay = all.filter(
    ({ state, waiting, out, concurrency }) =>
      (state === "ready" && waiting > 0) || (state !== "free" && (waiting > 0 ? out > 0 : out > concurrency)),
  );
  const busy = underWay.filter(({ state }) => state !== "stuck").length;
  const rest = all
    .filter((each) => each.waiting > 0 && each.state !== "free" && !underWay.includes(each))
    .sort((a, b) => Number(a.state === "stuck") - Number(b.state === "stuck") || b.waiting - a.waiting);
  const next = rest.slice(0, Math.max(0, devices - busy));
  return all
    .filter((each) => each.waiting > 0 && (each.state === "free" || underWay.includes(each) || next.includes(each)))
    .map(({ model }) => model);
}
