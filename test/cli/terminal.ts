// A terminal that remembers what was printed, and signals that a test can send.

import type { Io, SignalName } from "../../src/cli/command.ts";
import { main } from "../../src/cli/main.ts";
import { Zone } from "../../src/cli/zone.ts";
import { VirtualClock } from "../../src/simulator/virtual-clock.ts";

export interface Terminal {
  readonly io: Io;
  readonly clock: VirtualClock;
  readonly aborted: number[];
  out(): string;
  err(): string;
  send(signal: SignalName): void;
  listens(signal: SignalName): boolean;
  run(...argv: string[]): Promise<number>;
}

export function terminal(given: Partial<Io> = {}): Terminal {
  const lines = { out: [] as string[], err: [] as string[] };
  const aborted: number[] = [];
  const heard = new Map<SignalName, Set<() => void>>();
  const clock = new VirtualClock();
  const io: Io = {
    out: (text) => void lines.out.push(text),
    err: (text) => void lines.err.push(text),
    say: (text) => void lines.err.push(text),
    write: (data) => void lines.out.push(typeof data === "string" ? data : Buffer.from(data).toString("utf8")),
    draw: (text) => void lines.err.push(text),
    screen: {
      input: false,
      out: false,
      err: false,
      unicode: true,
      dumb: false,
      size: () => ({ columns: 80, rows: 24 }),
    },
    readInput: async () => "",
    question: async () => "",
    onKey: () => () => undefined,
    fetch: (input, init) => globalThis.fetch(input, init),
    quiet: false,
    zone: new Zone(true),
    environment: {},
    cwd: "/nowhere",
    color: false,
    version: "9.9.9",
    clock,
    onSignal: (name, hear) => {
      const all = heard.get(name) ?? new Set();
      heard.set(name, all.add(hear));
      return () => void all.delete(hear);
    },
    onExit: () => () => undefined,
    abort: (code) => void aborted.push(code),
    ...given,
  };
  return {
    io,
    clock,
    aborted,
    out: () => lines.out.join("\n"),
    err: () => lines.err.join("\n"),
    send: (signal) => heard.get(signal)?.forEach((hear) => void hear()),
    listens: (signal) => (heard.get(signal)?.size ?? 0) > 0,
    run: (...argv) => main(argv, io),
  };
}
