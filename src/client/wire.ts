// The JSON shapes on the wire, as types. Imports nothing, so that a client can be copied into other people's services.
// Durations end in `_seconds` (fractions allowed); instants are Unix seconds.

export type WireStatus = "queued" | "in_progress" | "completed" | "failed" | "cancelled" | "expired";

/** OpenAI's error object; all four keys are always there. */
export interface WireError {
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  readonly code: string;
}

export interface ErrorBody {
  readonly error: WireError;
}

/** Why a job did not complete. `reason` only where it was cancelled. */
export interface JobErrorWire extends WireError {
  readonly reason?: "client" | "lease_expired" | "deadline" | "admin" | "disconnect";
}

/** Where a queued job stands. All but `estimated_seconds`, `estimate` and `start` are facts of the scheduler. */
export interface QueueWire {
  /** 0 is next of its model. */
  readonly position: number | null;
  /** Jobs that wait for its model, this one among them. */
  readonly queued: number;
  readonly resident: boolean;
  readonly needs_swap: boolean;
  readonly load_seconds: number;
  /** The policy's bound on when the model is loaded at the latest; null when it states none. */
  readonly dispatch_within_seconds: number | null;
  /** Until the answer is ready. */
  readonly estimated_seconds: number | null;
  /** Eight of ten answers come between; null below 20 outcomes of such estimates. */
  readonly estimate: {
    readonly low_seconds: number;
    /** The same as `estimated_seconds`. */
    readonly mid_seconds: number;
    readonly high_seconds: number;
    readonly observations: number;
  } | null;
  /** Until it starts, if nothing new arrives: eight of ten starts come between. Null below 20 outcomes of such estimates. */
  readonly start: {
    readonly low_seconds: number;
    readonly mid_seconds: number;
    readonly high_seconds: number;
    readonly observations: number;
  } | null;
  /** Only in events: why its start is expected later than was said before, e.g. `3 interactive jobs arrived`; else null. */
  readonly because: string | null;
  /** Whether that lies before the job's deadline; null without a deadline, and while there is no estimate. */
  readonly deadline_feasible: boolean | null;
  readonly blocked: { readonly reason: string; readonly retry_at: number | null } | null;
  readonly loading: {
    readonly model: string;
    readonly phase: string;
    /** 0 to 1. */
    readonly progress: number | null;
    readonly since: number;
  } | null;
  readonly as_of: number;
}

/** The stored answer. `body` is null, beside `content_type` and `bytes`, unless it is JSON of at most 1 MiB. */
export interface ResponseWire {
  readonly status_code: number;
  readonly request_id: string;
  readonly body: unknown;
  readonly content_type?: string;
  readonly bytes?: number;
}

export interface Receipt {
  readonly id: string;
  readonly object: "job";
  readonly status: WireStatus;
  readonly endpoint: string;
  readonly model: string;
  readonly created_at: number;
  readonly started_at: number | null;
  readonly completed_at: number | null;
  /** When the answer will be removed; null while the job is live. */
  readonly expires_at: number | null;
  readonly priority: number;
  readonly attempts: number;
  readonly interruptions: number;
  readonly metadata: Readonly<Record<string, string>>;
  readonly trace_id: string | null;
  /** Null unless queued. */
  readonly queue: QueueWire | null;
  /** Null: nobody has to poll, or the job is final. `expires_at` is null while a request is held open. */
  readonly lease: { readonly seconds: number; readonly expires_at: number | null } | null;
  /** Whole seconds until the next poll; null once the job is final. */
  readonly retry_after: number | null;
  readonly response: ResponseWire | null;
  readonly error: JobErrorWire | null;
  readonly urls: { readonly self: string; readonly result: string; readonly events: string; readonly cancel: string };
}

export interface List<T> {
  readonly object: "list";
  readonly data: readonly T[];
  readonly first_id: string | null;
  readonly last_id: string | null;
  readonly has_more: boolean;
}

export type JobList = List<Receipt>;
export type ModelList = List<ModelWire>;
export type DecisionList = List<DecisionWire>;

export interface ModelWire {
  readonly id: string;
  readonly object: "model";
  readonly created: number;
  readonly owned_by: string;
  readonly sir: {
    readonly label: string;
    readonly aliases: readonly string[];
    readonly state: string;
    readonly resident: boolean;
    readonly device: string | null;
    /** Every device it takes memory of; more than one across a group, or with a second copy. */
    readonly devices: readonly string[];
    /** What the configuration claims, over all its devices; null: whole devices. */
    readonly memory_gib: number | null;
    /** What its last load was seen to take; null: not measured. */
    readonly measured_gib: number | null;
    readonly load_seconds: number;
    readonly queued: number;
    readonly running: number;
    readonly pinned: boolean;
    readonly retry_at: number | null;
  };
}

/** What a device does instead of what it could do, and the arithmetic behind it. */
/** Says beforehand that a model will be needed. */
export interface HintWire {
  readonly id: string;
  readonly object: "hint";
  readonly model: string;
  readonly state: "waiting" | "due" | "met" | "missed";
  readonly at: number;
  readonly until: number | null;
  readonly expires_at: number;
  readonly repeat: "daily" | null;
  readonly jobs: number | null;
  readonly priority: number;
  readonly last: "met" | "missed" | null;
  readonly acts: boolean;
  readonly created_at: number;
}

export type HintList = List<HintWire>;

/** Why a model was loaded before anybody had asked: gain > margin x (price + risk), in weighted seconds of waiting. */
export interface PreloadWire {
  readonly source: "hint" | "cron" | "daily";
  readonly hint: string | null;
  readonly due_at: number;
  readonly probability: number;
  readonly burst: number;
  readonly load_seconds: number;
  readonly gain: number;
  readonly price: number;
  readonly risk: number;
  readonly margin: number;
  /** Of the device's budget for such loads, after this one. */
  readonly left_seconds: number;
}

export interface PreloadRecordWire {
  /** Of the last twelve loads at most. */
  readonly hits: number;
  readonly misses: number;
  readonly paused_until: number | null;
}

/** What is expected of a model. */
export interface ForecastWire {
  readonly burst: number;
  readonly expected: readonly {
    readonly source: "hint" | "cron" | "daily";
    readonly due_at: number;
    readonly probability: number;
    /** False: it is only watched. */
    readonly acts: boolean;
  }[];
  readonly cron: { readonly hits: number; readonly predictions: number };
  readonly daily: { readonly hits: number; readonly predictions: number };
}

export interface DecisionWire {
  readonly id: string;
  readonly object: "decision";
  readonly at: number;
  readonly kind: "swap" | "load" | "hold" | "idle" | "preload" | "unload";
  readonly reason: string;
  readonly guard: string | null;
  readonly policy: string;
  readonly device: string;
  readonly load: string | null;
  readonly evict: readonly string[];
  readonly resident: readonly {
    readonly model: string;
    readonly for_seconds: number;
    readonly idle_seconds: number;
  }[];
  readonly models: readonly ScoredWire[];
  readonly jobs: readonly string[];
  /** Null unless a model was loaded ahead of need. */
  readonly preload: PreloadWire | null;
  /** The model whose claim `numbers` weigh, where nothing is loaded. */
  readonly about: string | null;
  /** What the rule compared, by name, e.g. `saves` and `costs`; empty where it compares nothing but scores. */
  readonly numbers: Readonly<Record<string, number>>;
  /** Seconds of loading in the budget for cutting into unfinished queues; null where the move takes nothing from it. */
  readonly budget: { readonly before_seconds: number; readonly after_seconds: number } | null;
  readonly next_look_at: number | null;
  readonly sentence: string;
  /** The caller who asked for it by hand; null: nobody did, or it is not shown to this key. */
  readonly asked_by: string | null;
  /** How many looks came to the same: a stay that lasts is one decision. */
  readonly times: number;
  /** The last of them; `at` where there was one. */
  readonly last_at: number;
  /** The race while it lasted, of what was loaded or waited; oldest first, at most 120. */
  readonly trail: readonly { readonly at: number; readonly scores: Readonly<Record<string, number | null>> }[];
}

/** One candidate. The policy's own addends (`age_term`, `depth_term`, ...) stand beside the fixed keys. */
export interface ScoredWire {
  readonly model: string;
  readonly depth: number;
  readonly oldest_wait_seconds: number;
  readonly priority: number;
  readonly switch_cost: number;
  readonly score: number | null;
  readonly eligible: boolean;
  readonly why_not: string | null;
  readonly [term: string]: string | number | boolean | null;
}

type FixedKey = keyof { [Key in keyof ScoredWire as string extends Key ? never : Key]: true };

const FIXED_KEYS: Readonly<Record<FixedKey, true>> = {
  model: true,
  depth: true,
  oldest_wait_seconds: true,
  priority: true,
  switch_cost: true,
  score: true,
  eligible: true,
  why_not: true,
};

/** The keys of the policy's own addends and facts, in its order. */
export function termsOf(scored: ScoredWire): string[] {
  return Object.keys(scored).filter((key) => !Object.hasOwn(FIXED_KEYS, key));
}
