// The log that explains: decisions, why queues waited, loads. It rides on the commits of what it explains.

import type { Database } from "better-sqlite3";
import type { Decision, Looks } from "../../domain/decision.ts";
import type { DecisionId } from "../../domain/ids.ts";
import type { LoadRecord, LogEntry } from "../../domain/journal.ts";
import type { Pause } from "../../domain/pause.ts";
import type { Wait } from "../../domain/wait.ts";
import { createSessionLog } from "./hints.ts";
import type { Stamp } from "./job-row.ts";
import { createLearnedLog } from "./learned-notes.ts";
import { createTimelineLog } from "./timeline-log.ts";

const INSERT_DECISION = `
  INSERT INTO decisions (id, at_ms, pool, kind, reason, device, detail) VALUES (?, ?, ?, ?, ?, ?, ?)`;
export const NOTE_LOOKS = "UPDATE decisions SET times = ?, last_ms = ?, trail = ? WHERE id = ?";
const INSERT_SUBJECT = "INSERT INTO decision_subjects (kind, subject, id) VALUES (?, ?, ?) ON CONFLICT DO NOTHING";
const INSERT_WAIT = `
  INSERT INTO waits (model, cause, rule, by_model, device, decision, from_ms, to_ms, detail)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const CLOSE_WAIT = `
  UPDATE waits INDEXED BY waits_open SET to_ms = max(from_ms, ?) WHERE model = ? AND to_ms IS NULL`;
const INSERT_LOAD = `
  INSERT INTO loads (instance, model, device, decision, started_ms, ended_ms, outcome, tier, detail)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`;

const CLOSE_PAUSE = `
  UPDATE pauses INDEXED BY pauses_open SET to_ms = max(from_ms, ?) WHERE scope = ? AND subject = ? AND to_ms IS NULL`;
/** Operators act seldom; what still holds stays. */
const EXCESS_PAUSES = `
  DELETE FROM pauses WHERE to_ms IS NOT NULL AND seq <= (SELECT max(seq) FROM pauses) - 1000`;

/** A configuration is read again seldom; the oldest go. */
const MOST_SETUPS = 1_000;

export const MODEL_SUBJECT = 0;
export const JOB_SUBJECT = 1;

export interface Journal {
  append(at: Stamp, entries: readonly LogEntry[]): void;
}

export function createJournal(db: Database): Journal {
  const insertDecision = db.prepare(INSERT_DECISION);
  const noteLooks = db.prepare(NOTE_LOOKS);
  const insertSubject = db.prepare(INSERT_SUBJECT);
  const insertWait = db.prepare(INSERT_WAIT);
  const closeWait = db.prepare(CLOSE_WAIT);
  const insertLoad = db.prepare(INSERT_LOAD);
  const note = createLearnedLog(db);
  const session = createSessionLog(db);
  const timeline = createTimelineLog(db);
  const insertSetup = db.prepare("INSERT INTO setups (at_ms, detail) VALUES (?, ?)");
  const lastSetup = db.prepare<[], string>("SELECT detail FROM setups ORDER BY seq DESC LIMIT 1").pluck();
  const excessSetups = db.prepare(`DELETE FROM setups WHERE seq <= (SELECT max(seq) FROM setups) - ${MOST_SETUPS}`);
  const insertShadow = db.prepare("INSERT INTO shadows (at_ms, detail) VALUES (?, ?)");
  const insertTuning = db.prepare("INSERT INTO tunings (at_ms, detail) VALUES (?, ?)");

  const insertPause = db.prepare("INSERT INTO pauses (scope, subject, who, note, from_ms) VALUES (?, ?, ?, ?, ?)");
  const closePause = db.prepare(CLOSE_PAUSE);
  const excessPauses = db.prepare(EXCESS_PAUSES);

  const decision = (entry: Decision): void => {
    const { id, atMs, pool, kind, reason, device } = entry;
    insertDecision.run(id, atMs, pool, kind, reason, device, JSON.stringify(entry));
    for (const model of modelsOf(entry)) insertSubject.run(MODEL_SUBJECT, model, id);
    for (const job of entry.jobs) insertSubject.run(JOB_SUBJECT, job, id);
  };
  const looks = (id: DecisionId, { times, lastAtMs, trail }: Looks): void => {
    noteLooks.run(times, lastAtMs, JSON.stringify(trail), id);
  };
  const open = (wait: Wait): void => {
    // One stretch at a time: what a crash or a lost entry left open ends where the next begins.
    closeWait.run(wait.fromMs, wait.model);
    const { model, cause, rule, by, device, fromMs, toMs } = wait;
    const detail = wait.detail === undefined ? null : JSON.stringify(wait.detail);
    insertWait.run(model, cause, rule, by, device, wait.decision, fromMs, toMs, detail);
  };
  const pause = ({ scope, subject, who, note, fromMs, toMs }: Pause): void => {
    closePause.run(toMs ?? fromMs, scope, subject ?? "");
    if (toMs !== null) return;
    insertPause.run(scope, subject ?? "", who, note, fromMs);
    excessPauses.run();
  };
  const load = (record: LoadRecord): void => {
    const { instance, model, device, startedAtMs, endedAtMs, outcome, tier, detail } = record;
    insertLoad.run(instance, model, device, record.decision, startedAtMs, endedAtMs, outcome, tier, detail);
  };
  const setup = (atMs: number, detail: string): void => {
    if (lastSetup.get() === detail) return;
    insertSetup.run(atMs, detail);
    excessSetups.run();
  };

  return {
    append(at, entries) {
      for (const entry of entries) {
        if (entry.type === "decision") decision(entry.decision);
        else if (entry.type === "decision.looks") looks(entry.id, entry.looks);
        else if (entry.type === "wait.open") open(entry.wait);
        else if (entry.type === "wait.close") closeWait.run(entry.toMs, entry.model);
        else if (entry.type === "load") load(entry.load);
        else if (entry.type === "session") session(entry.session);
        else if (entry.type === "span") timeline.span(entry.grain, entry.span);
        else if (entry.type === "minutes") timeline.minutes(entry.minutes);
        else if (entry.type === "setup") setup(entry.atMs, JSON.stringify(entry.setup));
        else if (entry.type === "pause") pause(entry.pause);
        else if (entry.type === "learned") note(at, entry.notes);
        else if (entry.type === "shadow") insertShadow.run(entry.shadow.atMs, JSON.stringify(entry.shadow));
        else insertTuning.run(entry.tuning.atMs, JSON.stringify(entry.tuning));
      }
    },
  };
}

/** The models a decision is about: what it moves, what is resident, and whose work waited. */
function modelsOf(decision: Decision): Set<string> {
  const models = new Set<string>(decision.evict);
  if (decision.load !== null) models.add(decision.load);
  for (const resident of decision.resident) models.add(resident.model);
  for (const scored of decision.models) if (scored.depth > 0) models.add(scored.model);
  return models;
}
