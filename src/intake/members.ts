// What a body's five readable members mean. Everything else in a body is the engine's.

import { SirError } from "../domain/errors.ts";
import type { BodyFields } from "./intake.ts";

export const WANTED = ["model", "stream", "background", "service_tier", "store"] as const;
/** Longest string value that is read; a name of a model is far shorter. */
export const VALUE_BYTES = 1024;
export type Wanted = (typeof WANTED)[number];

/** A member as it stands in the body: a string, a boolean, or the name of another type. */
export type Member =
  | {
      readonly type: "string";
      /** Null: longer than is read. */
      readonly text: string | null;
      /** Byte offsets inside the body, without the quotes. */
      readonly span: Span;
    }
  | {
      readonly type: "boolean";
      readonly value: boolean;
      /** Byte offset inside a JSON body; absent in a form. */
      readonly start?: number;
    }
  | {
      readonly type: "object";
      /** Braces included; empty while it is still open. */
      readonly span: Span;
    }
  | { readonly type: "number" | "null" | "array" };

export type Span = readonly [start: number, end: number];
export type Members<Key extends string = Wanted> = Partial<Record<Key, Member>>;

export interface ReadFields {
  readonly fields: BodyFields;
  /** Where the `true` of `background` stands; null when it is not true. */
  readonly backgroundAt: number | null;
  readonly modelSpan: Span;
}

export function asWanted(key: string | null): Wanted | null {
  return (WANTED as readonly (string | null)[]).includes(key) ? (key as Wanted) : null;
}

/** @throws {SirError} missing_model, invalid_body */
export function readMembers(members: Members): ReadFields {
  const { model } = members;
  if (model === undefined) {
    throw new SirError("missing_model", 'The body names no "model"; say which model is to answer.', { param: "model" });
  }
  if (model.type !== "string") throw wrongType("model", "a string", model);
  if (model.text === null) {
    throw new SirError("invalid_body", '"model" is too long to be the name of a model.', { param: "model" });
  }
  if (model.text === "") {
    throw new SirError("missing_model", '"model" is empty; say which model is to answer.', { param: "model" });
  }
  const tier = members.service_tier;
  const { background } = members;
  return {
    modelSpan: model.span,
    backgroundAt: background?.type === "boolean" && background.value ? (background.start ?? null) : null,
    fields: {
      model: model.text,
      stream: flag("stream", members.stream) ?? false,
      background: flag("background", members.background) ?? false,
      serviceTier: tier?.type === "string" ? tier.text : null,
      store: members.store?.type === "boolean" ? members.store.value : null,
    },
  };
}

/** OpenAI's schema lets null stand for absent. */
function flag(name: Wanted, member: Member | undefined): boolean | null {
  if (member === undefined || member.type === "null") return null;
  if (member.type !== "boolean") throw wrongType(name, "a boolean", member);
  return member.value;
}

function wrongType(name: Wanted, wanted: string, member: Member): SirError {
  return new SirError("invalid_body", `"${name}" must be ${wanted}, got ${member.type}.`, { param: name });
}
