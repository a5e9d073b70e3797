// The other names of a model, and what llama-swap does to bodies and lists that SIR does not do.

import { type Draft, isName, type ModelDraft } from "./draft.ts";
import { textOf } from "./reading.ts";
import type { Field, Section } from "./source.ts";
import type { Macros } from "./words.ts";

export function aliases(model: ModelDraft, field: Field | undefined, macros: Macros, draft: Draft): void {
  if (field === undefined) return;
  const given: unknown[] = Array.isArray(field.value) ? field.value : [];
  const faults: string[] = [];
  for (const each of given) {
    const record = typeof each === "object" && each !== null ? (each as Record<string, unknown>) : null;
    const id = macros.fill(String(record === null ? each : record["id"]));
    if (!draft.alias(model, id))
      faults.push(isName(id) ? `${id} belongs to another model and is not written` : `"${id}" is no name`);
    if (record?.["unlisted"] === true) faults.push(`${id} is listed with its model all the same`);
    const shown = record?.["name"];
    if (typeof shown === "string" && shown !== "" && shown !== id) faults.push(`${id} has no name of its own to show`);
  }
  if (!Array.isArray(field.value)) faults.push("is no list");
  if (faults.length === 0) draft.ledger.carry(field);
  else draft.ledger.change(field, `${faults.join("; ")}.`);
}

export function filters(model: ModelDraft, section: Section, macros: Macros, draft: Draft): void {
  const { ledger } = draft;
  const untouched = "SIR passes bodies on untouched.";
  // The second is how it was written first, and is still read.
  for (const name of ["stripParams", "strip_params"]) {
    const strip = section.get(name);
    if (strip === undefined) continue;
    ledger.leave(
      strip,
      `${textOf(strip) ?? ""}: ${untouched} Have callers not send them, or let the engine ignore them.`,
    );
  }
  const set = section.get("setParams");
  if (set !== undefined) {
    const names = Object.keys(set.section === null ? {} : Object.fromEntries(set.section.fields)).join(", ");
    ledger.leave(set, `${names}: ${untouched} Put defaults into the command, as --temp 0.7.`);
  }
  const byId = section.get("setParamsByID");
  if (byId === undefined) return;
  const ids = [...(byId.section?.fields.keys() ?? [])].map((id) => macros.fill(id));
  const others = ids.filter((id) => id !== model.name);
  const kept = others.filter((id) => draft.alias(model, id));
  const names =
    kept.length === 0
      ? ""
      : ` ${kept.join(", ")}: ${kept.length === 1 ? "now an alias" : "now aliases"} of ${model.name}, and no different from it.`;
  ledger.leave(byId, `${untouched}${names}`);
}

export function unlistedOf(own: Section, { ledger }: Draft): void {
  const field = own.get("unlisted");
  if (field === undefined) return;
  if (field.value === true) ledger.leave(field, "SIR lists every model.");
  else ledger.carry(field);
}

/** Keys of a model that have no counterpart, each with why. */
export function leftOutOf(own: Section, { ledger }: Draft): void {
  const stop = own.get("cmdStop");
  if (stop !== undefined) {
    const docker = /^\s*(docker|podman)\s+(stop|kill|rm)\b/.test(textOf(stop) ?? "");
    const why = docker
      ? "SIR ends the command by SIGTERM, and `docker run` in the foreground passes it on to its container."
      : "SIR ends the command by SIGTERM, then SIGKILL, with all that it started. Have what must be done at the end done by the command itself.";
    ledger.leave(stop, why);
  }
  const metadata = own.get("metadata");
  if (metadata !== undefined) ledger.leave(metadata, "SIR's list of models has no place for it.");
  const capabilities = own.get("capabilities");
  if (capabilities !== undefined) ledger.leave(capabilities, "SIR's list of models does not say what a model can do.");
  switchedOff(
    own.get("sendLoadingState"),
    "place and loading come in receipts and as comments in streams, never as text of the answer.",
    ledger,
  );
  switchedOff(own.below("compat").get("ignoreWebsockets"), "SIR passes no websockets on.", ledger);
}

/** Nothing is lost of what was switched off. */
export function switchedOff(field: Field | undefined, why: string, ledger: Draft["ledger"]): void {
  if (field === undefined) return;
  if (field.value === false) ledger.carry(field);
  else ledger.leave(field, why);
}
