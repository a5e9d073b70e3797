// What `sir init` does: from what was found on the machine, by questions on a terminal, to a configuration or its text.

import type { FoundContainer, Machine } from "../discovery/found.ts";
import { lookAround } from "../discovery/look.ts";
import { ownPort } from "../discovery/own-port.ts";
import type { Surroundings } from "../discovery/surroundings.ts";
import type { Io } from "./command.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { type Draft, draftText, manageable, type Offer, offerOf } from "./init-draft.ts";
import { placeConfig } from "./init-file.ts";
import { measured } from "./init-measure.ts";
import type { Candidate } from "./init-models.ts";
import { foundLines, portLines, skippedLines, unmovedLines } from "./init-words.ts";

interface Wishes {
  readonly yes?: boolean | undefined;
  readonly dryRun?: boolean | undefined;
  readonly force?: boolean | undefined;
  readonly containers?: boolean | undefined;
  readonly measure?: boolean | undefined;
  readonly json?: unknown;
}

/** From what was found to a file, or to its text. */
export async function settle(machine: Machine, wishes: Wishes, io: Io): Promise<ExitCode> {
  const own = await ownPort();
  for (const line of foundLines(machine)) io.say(line);
  for (const line of portLines(own.port, own.held, machine.engines)) io.say(`\n${line}`);
  const asks =
    io.screen.input && io.screen.err && wishes.yes !== true && wishes.dryRun !== true && wishes.json !== true;
  const managed = wishes.containers === true ? manageable(machine) : asks ? await askContainers(machine, io) : [];
  const offer = offerOf(
    machine,
    managed.map(({ name }) => name),
  );
  for (const line of [...unmovedLines(offer.candidates), ...skippedLines(offer.skipped)]) io.say(line);
  if (offer.candidates.length === 0) return nothing(machine, offer, wishes, io);
  const chosen = asks ? await askModels(offer.candidates, io) : offer.candidates;
  const writes = asks || (wishes.yes === true && wishes.dryRun !== true);
  const guessed: Draft = { machine, own, models: chosen, version: io.version };
  const draft = await withMeasures(guessed, writes, wishes, io);
  const text = draftText(draft);
  const placed = writes ? await placeConfig(text, wishes.force === true, io) : null;
  if (wishes.json === true) {
    const config = placed === null ? { config: text } : {};
    io.out(
      JSON.stringify(
        { found: foundRows(machine), written: placed?.name ?? null, ...config, skipped: offer.skipped },
        null,
        2,
      ),
    );
    return EXIT.done;
  }
  if (placed === null) {
    io.write(text);
    io.say("\nNothing was written: `sir init --yes` writes sir.config.ts.");
    return EXIT.done;
  }
  const count = `${chosen.length} model${chosen.length === 1 ? "" : "s"}`;
  io.out(`\nWrote ${placed.name} (${count}). Every guess in it is marked GUESS.`);
  for (const note of placed.notes) io.out(note);
  for (const line of nextLines(draft, placed.name)) io.out(line);
  return EXIT.done;
}

async function withMeasures(draft: Draft, writes: boolean, { measure, yes }: Wishes, io: Io): Promise<Draft> {
  if (measure !== true) return draft;
  if (!writes) {
    io.say("Nothing is measured where nothing is written: --measure needs a terminal, or --yes.");
    return draft;
  }
  const count = draft.models.filter(({ usesDevice }) => usesDevice).length;
  const question = `? Load each of ${count} model${count === 1 ? "" : "s"} once and unload it again? What is loaded now may have to go. (y/N) `;
  if (count === 0 || (yes !== true && !/^y(es)?$/i.test((await io.question(question)).trim()))) return draft;
  io.say("Measuring …");
  return { ...draft, models: await measured(draft.models, draftText(draft), io) };
}

function nextLines({ own, models }: Draft, name: string): string[] {
  const config = name === "sir.config.ts" ? "" : ` --config ${name}`;
  const body = JSON.stringify({ model: models[0]?.name, messages: [{ role: "user", content: "hello" }] });
  return [
    `Next:  npx sir doctor${config}`,
    `       npx sir serve${config}`,
    `       curl http://127.0.0.1:${own.port}/v1/chat/completions -H 'content-type: application/json' \\`,
    `         -d '${body.replaceAll("'", "'\\''")}'`,
    `       the dashboard: http://127.0.0.1:${own.port}/dashboard`,
    ...(own.port === 8_000 ? [] : [`       in other folders: export SIR_URL=http://127.0.0.1:${own.port}`]),
  ];
}

function nothing(machine: Machine, offer: Offer, wishes: Wishes, io: Io): ExitCode {
  if (wishes.json === true) {
    io.out(JSON.stringify({ found: foundRows(machine), written: null, skipped: offer.skipped }, null, 2));
  }
  io.say(
    "\nNo engine with a model was found, so nothing was written. Start one (Ollama, vLLM, llama-server, LM Studio …)",
  );
  io.say("and run `sir init` again, or name where it is: `sir init --host HOST:PORT`. To see SIR work without a GPU:");
  io.say("`npx sir serve` with the configuration that comes with it runs mock engines.");
  return EXIT.missing;
}

async function askContainers(machine: Machine, io: Io): Promise<readonly FoundContainer[]> {
  const allowed: FoundContainer[] = [];
  for (const container of manageable(machine)) {
    const answer = await io.question(`? May SIR start and stop the container ${container.name}? (y/N) `);
    if (/^y(es)?$/i.test(answer.trim())) allowed.push(container);
  }
  return allowed;
}

async function askModels(candidates: readonly Candidate[], io: Io): Promise<readonly Candidate[]> {
  io.say("");
  for (const [at, { name, where }] of candidates.entries())
    io.say(`  ${String(at + 1).padStart(2)}  ${name}  (${where})`);
  for (;;) {
    const answer = (await io.question("? Which models should SIR schedule? (Enter: all; or numbers, as 1,3) ")).trim();
    if (answer === "") return candidates;
    const chosen = answer.split(/[\s,]+/).map((word) => candidates[Number(word) - 1]);
    const known = chosen.filter((each) => each !== undefined);
    if (known.length === chosen.length) return candidates.filter((each) => known.includes(each));
    io.say(`  Numbers from 1 to ${candidates.length}, with commas between them.`);
  }
}

/** @param only Kinds of engines; null: all. */
export async function lookFor(
  surroundings: Surroundings,
  hosts: readonly string[],
  only: readonly string[] | null,
): Promise<Machine> {
  return narrowed(await lookAround(surroundings, { hosts }), only);
}

function narrowed(machine: Machine, only: readonly string[] | null): Machine {
  if (only === null) return machine;
  const engines = machine.engines.filter(({ kind }) => only.includes(kind));
  return { ...machine, engines, dockers: only.includes("vllm") ? machine.dockers : [] };
}

function foundRows({ devices, engines, dockers, shutDockers, strangers }: Machine): object[] {
  return [
    ...devices.map((each) => ({ what: "device", ...each })),
    ...engines.map((each) => ({ what: "engine", ...each })),
    ...dockers.map((each) => ({ what: "docker", ...each })),
    ...shutDockers.map((each) => ({ what: "docker_shut", ...each })),
    ...strangers.map((each) => ({ what: "stranger", ...each })),
  ];
}
