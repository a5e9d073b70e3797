// What is written down of an engine while it runs, so that a later router finds it: one file for each, in `engines`
// under the data folder, written before the process is started and completed before its readiness is awaited.

import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";

const record = z.object({
  /** The id its processes carry in their environment. */
  marker: z.string().min(1),
  driver: z.string(),
  model: z.string(),
  device: z.string().nullable(),
  /** Of the load it serves; another one than `marker` after a wake. */
  instance: z.string().min(1),
  epoch: z.int(),
  host: z.string(),
  port: z.int(),
  /** Null: it was about to be started. */
  pid: z.int().nullable(),
  started: z.string().nullable(),
  boot: z.string(),
  letters: z.string(),
});

export type EngineRecord = z.output<typeof record>;

const loadsRecord = z.object({ boot: z.string(), letters: z.array(z.string()) });

/** What an instance's id looks like; a file's name is made of it. */
const SAFE = /^[A-Za-z0-9_-]{1,80}$/;

/** The files of all engines. */
export class Records {
  readonly #folder: string;
  /** One write after the other for each file. */
  readonly #writing = new Map<string, Promise<void>>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  write(engine: EngineRecord): Promise<void> {
    return this.#replace(`${engine.marker}.json`, JSON.stringify(engine));
  }

  async remove(marker: string): Promise<void> {
    if (SAFE.test(marker)) await rm(join(this.#folder, `${marker}.json`), { force: true });
  }

  /** Files that cannot be read are left where they are; they name nobody. */
  async all(): Promise<readonly EngineRecord[]> {
    const names = await readdir(this.#folder).catch(() => []);
    const found: EngineRecord[] = [];
    for (const name of names.filter((each) => each.endsWith(".json") && each !== "loads.json")) {
      const parsed = record.safeParse(await this.#read(name));
      if (parsed.success && SAFE.test(parsed.data.marker)) found.push(parsed.data);
    }
    return found;
  }

  /** What was loaded since the machine's boot, by its letters. */
  async loads(boot: string): Promise<readonly string[]> {
    const parsed = loadsRecord.safeParse(await this.#read("loads.json"));
    return parsed.success && parsed.data.boot === boot ? parsed.data.letters : [];
  }

  writeLoads(boot: string, letters: readonly string[]): Promise<void> {
    return this.#replace("loads.json", JSON.stringify({ boot, letters }));
  }

  async #read(name: string): Promise<unknown> {
    try {
      return JSON.parse(await readFile(join(this.#folder, name), "utf8"));
    } catch {
      return null;
    }
  }

  /** Whole or not at all, for whoever reads after a kill; a power cut ends the engines too. */
  #replace(name: string, text: string): Promise<void> {
    const before = this.#writing.get(name) ?? Promise.resolve();
    const writing = before
      .catch(() => undefined)
      .then(async () => {
        await mkdir(this.#folder, { recursive: true, mode: 0o700 });
        const path = join(this.#folder, name);
        await writeFile(`${path}.new`, text, { mode: 0o600 });
        await rename(`${path}.new`, path);
      });
    this.#writing.set(name, writing);
    const forget = (): void => {
      if (this.#writing.get(name) === writing) this.#writing.delete(name);
    };
    writing.then(forget, forget);
    return writing;
  }
}
