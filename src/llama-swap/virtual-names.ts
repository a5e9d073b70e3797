// Names of llama-swap that stand for others: profiles with pins, and selectors. What always leads to one model becomes
// an alias of it; what is chosen anew for each request is left out.

import type { Draft } from "./draft.ts";
import { textOf, textsOf } from "./reading.ts";
import type { Field, Section } from "./source.ts";

export function profiles(draft: Draft): void {
  const { root, ledger } = draft;
  const chosen = root.below("hooks").below("on_startup").get("profile");
  const active = textOf(chosen);
  for (const [id, field] of root.below("profiles").fields) {
    if (id !== active || field.section === null) {
      ledger.leave(field, "SIR has no profiles to switch between; give its names to models as aliases.");
      continue;
    }
    for (const pin of field.section.below("pins").fields.values()) pinned(pin, draft);
    const description = field.section.get("description");
    if (description !== undefined) ledger.leave(description, "there is no profile to describe.");
  }
  if (chosen === undefined) return;
  if (root.below("profiles").get(active ?? "") === undefined) ledger.leave(chosen, "no such profile.");
  else ledger.change(chosen, "its pins became aliases; they cannot be switched at run time.");
}

function pinned(pin: Field, draft: Draft): void {
  const name = pin.path.at(-1) ?? "";
  const target = textOf(pin);
  if (target === null || target === "") {
    draft.ledger.leave(pin, "a name that is switched off: SIR answers 404 to it, as to every name it does not know.");
    return;
  }
  const model = draft.find(target);
  if (model === undefined) draft.ledger.leave(pin, `${target} is no model here.`);
  else if (!draft.alias(model, name)) draft.ledger.leave(pin, `${name} is the name of a model already.`);
  else draft.ledger.carry(pin);
}

export function selectors(section: Section, draft: Draft): void {
  for (const [id, field] of section.fields) {
    const strategy = textOf(field.section?.get("strategy"));
    const [target = ""] = textsOf(field.section?.get("targets"));
    const model = draft.find(target);
    if (strategy !== "pin") {
      const why = strategy === null ? "has no strategy" : `${strategy} chooses a model for each request`;
      draft.ledger.leave(field, `${why}, which SIR does not: a request names its model. Make ${id} an alias of one.`);
    } else if (model === undefined || !draft.alias(model, id)) {
      draft.ledger.leave(
        field,
        model === undefined ? `${target} is no model here.` : `${id} is the name of a model already.`,
      );
    } else draft.ledger.change(field, `became an alias of ${model.name}; its other targets and texts are not kept.`);
  }
}
