// Instants and durations as people read them. Durations are in the router's own words. Instants are told by the router's
// time zone: its sentences hold times of day, and a page that told others beside them would be read wrongly.

export { duration } from "../../../src/scheduler/wording.ts";

interface Zone {
  /** Null: the browser's own, until the router has named its. */
  readonly name: string | null;
  readonly clock: Intl.DateTimeFormat;
  readonly day: Intl.DateTimeFormat;
}

let zone = zoneOf(null);

/** The router's. One that this browser does not know leaves everything as it was. */
export function setZone(name: string): void {
  if (zone.name === name) return;
  try {
    zone = zoneOf(name);
  } catch {
    // Times stay those of the browser.
  }
}

/** What to say beside a clock where the router's time is not the reader's: its zone's name; else nothing. */
export function foreignZone(ms: number): string {
  return zone.name !== null && clock(ms) !== zoneOf(null).clock.format(ms) ? zone.name : "";
}

/** `21:50:12` */
export function clock(ms: number): string {
  return zone.clock.format(ms);
}

/** `21:50` */
export function clockMinutes(ms: number): string {
  return clock(ms).slice(0, 5);
}

/** The clock, and the day where it is another than today's. */
export function moment(ms: number, nowMs: number): string {
  const day = zone.day.format(ms);
  return day === zone.day.format(nowMs) ? clock(ms) : `${day}, ${clock(ms)}`;
}

/** Minutes that the zone is behind UTC then, whole days aside; negative east of it. */
export function offsetMinutes(ms: number): number {
  const [hours = 0, minutes = 0, seconds = 0] = clock(ms).split(":").map(Number);
  const local = hours * 3600 + minutes * 60 + seconds;
  const behind = Math.round(((Math.floor(ms / 1000) % 86_400) - local) / 60);
  return behind > 720 ? behind - 1440 : behind <= -720 ? behind + 1440 : behind;
}

function zoneOf(name: string | null): Zone {
  const own = name === null ? {} : { timeZone: name };
  return {
    name,
    clock: new Intl.DateTimeFormat("en-GB", {
      ...own,
      hour: "2-digit",
      minute: "2-digit",
      second: "2-digit",
      hourCycle: "h23",
    }),
    day: new Intl.DateTimeFormat("en-GB", { ...own, day: "numeric", month: "short" }),
  };
}
