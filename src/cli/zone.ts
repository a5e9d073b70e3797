// In whose time instants are told: the router's, because its sentences hold times of day and others beside them would be
// read wrongly; this machine's until a router has said which that is; UTC where it was asked for.

import type { Io } from "./command.ts";

const UTC = "UTC";

export class Zone {
  /** Null: this machine's. */
  #router: string | null = null;
  #unlike = false;
  #said = false;
  readonly utc: boolean;

  constructor(utc = false) {
    this.utc = utc;
  }

  /** The router's, by its IANA name. One that is not known here leaves everything as it was. */
  learn(name: string): void {
    if (name === this.#router) return;
    try {
      formatOf(name);
      this.#router = name;
    } catch {
      // Times stay those of this machine.
    }
  }

  /** `2026-03-01 14:30:05` */
  tell(atMs: number): string {
    const shown = textIn(this.utc ? UTC : this.#router, atMs);
    this.#unlike ||= shown !== textIn(this.utc ? this.#router : null, atMs);
    return shown;
  }

  /** The name to put beside a clock that goes otherwise than this machine's; else nothing. Only of what was told. */
  get foreign(): string {
    if (!this.#unlike) return "";
    return this.utc ? UTC : (this.#router ?? "");
  }

  /** In words, where what was told could be misread, once; null: it cannot be. */
  remark(): string | null {
    if (!this.#unlike || this.#said || this.#router === null) return null;
    this.#said = true;
    return this.utc
      ? `Times are UTC; those inside of sentences are the router's, ${this.#router}.`
      : `Times are the router's, ${this.#router}; not those of this machine.`;
  }
}

/** After the first lines that hold instants, and at the end of every command. */
export function sayZone({ zone, say }: Pick<Io, "zone" | "say">): void {
  const remark = zone.remark();
  if (remark !== null) say(`sir: ${remark}`);
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** @throws {RangeError} where no such zone is known */
function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  const two = "2-digit";
  const parts = { year: "numeric", month: two, day: two, hour: two, minute: two, second: two } as const;
  const made = new Intl.DateTimeFormat("en-GB", { ...parts, hourCycle: "h23", timeZone: zone });
  formats.set(zone, made);
  return made;
}

const two = (value: number): string => String(value).padStart(2, "0");

function textIn(zone: string | null, atMs: number): string {
  const at = new Date(atMs);
  if (zone === UTC) return at.toISOString().slice(0, 19).replace("T", " ");
  if (zone === null) {
    const day = [at.getFullYear(), two(at.getMonth() + 1), two(at.getDate())].join("-");
    return `${day} ${[at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(":")}`;
  }
  const of = new Map(
    formatOf(zone)
      .formatToParts(at)
      .map(({ type, value }) => [type, value]),
  );
  return `${of.get("year")}-${of.get("month")}-${of.get("day")} ${of.get("hour")}:${of.get("minute")}:${of.get("second")}`;
}
