// One finding of `sir doctor`.

export interface Check {
  /** What was looked at, e.g. `store` or a model's name. */
  readonly id: string;
  readonly level: "ok" | "warn" | "error";
  readonly text: string;
  /** What to do about it; null when nothing needs doing. */
  readonly mend: string | null;
}

export const ok = (id: string, text: string): Check => ({ id, level: "ok", text, mend: null });
export const warn = (id: string, text: string, mend: string | null = null): Check => ({
  id,
  level: "warn",
  text,
  mend,
});
export const fault = (id: string, text: string, mend: string): Check => ({ id, level: "error", text, mend });
