// Peers of llama-swap as models with the `remote` driver: always on elsewhere, with no part in loads.

import { Code, type Written } from "../config/config-text.ts";
import { blankModel, type Draft, isName } from "./draft.ts";
import { textOf, textsOf } from "./reading.ts";
import type { Field, Section } from "./source.ts";
import { Macros } from "./words.ts";

const USUAL_CONCURRENCY = 10;

export function peers(section: Section, macros: Section, draft: Draft): void {
  const filling = new Macros(macros, null, null);
  const offered = [...section.fields.values()].flatMap(({ section: own }) => textsOf(own?.get("models")));
  for (const [id, field] of section.fields) {
    const own = field.section;
    const proxy = filling.fill(textOf(own?.get("proxy")) ?? "");
    if (own === null || !/^https?:\/\//.test(proxy) || !URL.canParse(proxy)) {
      const why = proxy === "" ? "has no proxy" : `${proxy.split(":")[0]}:// is no way that SIR knows`;
      draft.ledger.leave(field, `${why}: the peer and its models are not written.`);
      continue;
    }
    addPeer({ id, own, baseUrl: baseUrlOf(proxy), filling, offered }, draft);
  }
}

interface Peer {
  readonly id: string;
  readonly own: Section;
  readonly baseUrl: string;
  readonly filling: Macros;
  /** By all peers. */
  readonly offered: readonly string[];
}

function addPeer({ id, own, baseUrl, filling, offered }: Peer, draft: Draft): void {
  const { ledger } = draft;
  const apiKey = keyOf(id, own.get("apiKey"), filling, draft);
  for (const name of textsOf(own.get("models")).map((each) => filling.fill(each))) {
    const model = blankModel(`${id}/${name}`, { driver: "remote", baseUrl, apiKey }, false);
    if (draft.isTaken(model.name) || !isName(model.name) || !isName(name)) {
      draft.remarks.push(`peers.${id}: ${model.name} is the name of a model already, or none, and is not written.`);
      continue;
    }
    model.upstreamName = name;
    model.concurrency = USUAL_CONCURRENCY;
    draft.add(model);
    // Its bare name leads to it while no other peer has one of that name.
    if (offered.filter((each) => each === name).length === 1) draft.alias(model, name);
    const seconds = own.below("timeouts").get("responseHeader")?.value;
    if (typeof seconds === "number" && seconds > 0) model.firstByteTimeoutSeconds = seconds;
  }
  ledger.carry(own.get("proxy"));
  ledger.carry(own.get("models"));
  for (const [key, field] of own.below("timeouts").fields) {
    if (key === "responseHeader" && typeof field.value === "number" && field.value > 0) ledger.carry(field);
    else ledger.leave(field, "SIR sets the limits of its own connections.");
  }
  const filters = own.get("filters");
  if (filters !== undefined) ledger.leave(filters, "SIR passes bodies on untouched.");
}

/** A key is never written: where it was a text, a variable is named in its place. */
function keyOf(id: string, field: Field | undefined, filling: Macros, { ledger }: Draft): Written | undefined {
  const given = filling.fill(textOf(field) ?? "");
  if (field === undefined || given === "") {
    ledger.carry(field);
    return undefined;
  }
  const variable = /^\$\{env\.([A-Za-z_][A-Za-z0-9_]*)\}$/.exec(given)?.[1];
  if (variable !== undefined) ledger.carry(field);
  const name = variable ?? `${id.toUpperCase().replaceAll(/[^A-Z0-9]+/g, "_")}_API_KEY`;
  if (variable === undefined) ledger.change(field, `not copied: put it into the environment as ${name}.`);
  return new Code(`process.env["${name}"]`);
}

function baseUrlOf(proxy: string): string {
  const bare = proxy.replace(/\/+$/, "");
  return bare.endsWith("/v1") ? bare : `${bare}/v1`;
}
