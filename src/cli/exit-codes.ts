// What the exit status of `sir` means; the same for every command.

export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  unreachable: 3,
  denied: 4,
  missing: 5,
  ended: 6,
  timeout: 7,
  fault: 8,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export const EXIT_TEXT: readonly (readonly [code: ExitCode, text: string])[] = [
  [EXIT.done, "done (also: an empty list; doctor with warnings only)"],
  [EXIT.failed, "failed: the job failed, the act was refused, or an unexpected error"],
  [EXIT.usage, "usage: unknown command or flag, bad value, a configuration that is refused"],
  [EXIT.unreachable, "no router at that address"],
  [EXIT.denied, "key missing, wrong or not allowed"],
  [EXIT.missing, "no such job, model, decision or file"],
  [EXIT.ended, "the job was cancelled or expired"],
  [EXIT.timeout, "--timeout passed; the job lives on"],
  [EXIT.fault, "doctor found an error; import --strict left something out; replay --check differed"],
  [EXIT.interrupted, "interrupted"],
];
