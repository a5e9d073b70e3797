// Commands with verbs (`sir jobs cancel`): which one was meant, and guesses at what was not.

import { closest } from "../config/closest.ts";
import { UsageError } from "./command.ts";

/** @throws {UsageError} with a guess */
export function verbOf<Verb extends string>(command: string, word: string, verbs: readonly Verb[]): Verb {
  const verb = verbs.find((each) => each === word);
  if (verb !== undefined) return verb;
  const near = closest(word, verbs);
  const hint = near === null ? `Known: ${verbs.join(", ")}.` : `Did you mean "${near}"?`;
  throw new UsageError(`sir ${command} does not know "${word}". ${hint}`);
}

/** One of a closed list. @throws {UsageError} with a guess */
export function choiceOf<Choice extends string>(flag: string, text: string, choices: readonly Choice[]): Choice {
  const found = choices.find((each) => each === text);
  if (found !== undefined) return found;
  const near = closest(text, choices);
  const hint = near === null ? `It is one of ${choices.join(", ")}.` : `Did you mean "${near}"?`;
  throw new UsageError(`--${flag} does not know "${text}". ${hint}`);
}
