// Whole lives a second at the store, with real syncs, of this checkout against another's:
//
//   npx tsx bench/lives.ts ../before [folder]

import { fork } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { describeMachine } from "./machine.ts";
import { median } from "./statistics.ts";

const PAIRS = 15;
const SLICE_MS = 1_000;

interface Slice {
  readonly perSecond: number;
  readonly cpuMs: number;
}

async function start(checkout: string, path: string) {
  const child = fork(new URL("lives-process.ts", import.meta.url), [resolve(checkout), path]);
  child.once("exit", (code) => process.exit(code === 0 ? 0 : 1));
  const next = () => new Promise<unknown>((heard) => child.once("message", heard));
  await next();
  const ask = async (changes: boolean): Promise<Slice> => {
    const answer = next();
    child.send({ forMs: SLICE_MS, changes });
    return (await answer) as Slice;
  };
  return { ask, end: () => child.disconnect() };
}

const [, , other = "../before", parent = ".tmp"] = process.argv;
mkdirSync(parent, { recursive: true });
const folder = mkdtempSync(join(resolve(parent), "bench-lives-"));
const machine = describeMachine(folder);
console.log(`sir bench lives   ${machine.date} UTC   commit ${machine.commit}, against ${other}`);
console.log(`${machine.processor}, ${machine.fileSystem}, node ${machine.node}, load average ${machine.loadAverage}`);
const now = await start(".", join(folder, "now", "sir.db"));
const before = await start(other, join(folder, "before", "sir.db"));
const pairs: { now: Slice; before: Slice }[] = [];
for (let n = -2; n < PAIRS; n++) {
  const nowFirst = n % 2 === 0;
  const first = nowFirst ? await now.ask(true) : await before.ask(false);
  const second = nowFirst ? await before.ask(false) : await now.ask(true);
  if (n >= 0) pairs.push(nowFirst ? { now: first, before: second } : { now: second, before: first });
}
now.end();
before.end();
rmSync(folder, { recursive: true, force: true });
const of = (read: (pair: { now: Slice; before: Slice }) => number): string => {
  const all = pairs.map(read);
  return `${median(all).toFixed(3)}   (${Math.min(...all).toFixed(3)} to ${Math.max(...all).toFixed(3)})`;
};
console.log(`lives a second, now                 ${of((pair) => pair.now.perSecond)}`);
console.log(`lives a second, before              ${of((pair) => pair.before.perSecond)}`);
console.log(`now over before, of ${PAIRS} pairs        ${of((pair) => pair.now.perSecond / pair.before.perSecond)}`);
console.log(`CPU of a life, now, ms              ${of((pair) => pair.now.cpuMs)}`);
console.log(`CPU of a life, now over before      ${of((pair) => pair.now.cpuMs / pair.before.cpuMs)}`);
