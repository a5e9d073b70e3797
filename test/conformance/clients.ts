// Which clients there are, and what is claimed of each: the table of docs/how-to/call-it-from.md, which a test compares with this one,
// while the suite proves every cell of it against a real router.

import type { Installed } from "./install.ts";

export const FEATURES = [
  "answers",
  "streams",
  "tool calls",
  "embeddings",
  "errors",
  "abort",
  "overload",
  "own timeout",
  "6 minutes",
  "10 minutes",
  "background",
  "batches",
  "webhooks",
] as const;

export type Feature = (typeof FEATURES)[number];

/** `unchanged`: with the client as it comes. `line`: with the one line. `no`: the client has no such thing. */
export type Claim = "unchanged" | "line" | "no";

export interface Client {
  readonly title: string;
  /** The interpreter; undefined where it could not be had. */
  readonly interpreter: (installed: Installed) => string | undefined;
  readonly program: readonly string[];
  /** What its users write for the one line; null where none is needed or there is none. */
  readonly line: string | null;
  readonly claims: Readonly<Record<Feature, Claim>>;
  /** A time limit of thirty seconds, and repetitions. */
  readonly impatient: object | null;
  /** No repetitions. */
  readonly onceOnly: object;
  /** The class of what it throws for 400, 404 and 500 of an engine; the last is the router's 502. */
  readonly errors: readonly [string, string, string];
  /** What it throws when its caller aborts. */
  readonly aborted: string;
}

const EVERYTHING: Record<Feature, Claim> = {
  answers: "unchanged",
  streams: "unchanged",
  "tool calls": "unchanged",
  embeddings: "unchanged",
  errors: "unchanged",
  abort: "unchanged",
  overload: "unchanged",
  "own timeout": "unchanged",
  "6 minutes": "unchanged",
  "10 minutes": "unchanged",
  background: "unchanged",
  batches: "unchanged",
  webhooks: "unchanged",
};

const HTTP_ERRORS = ["BadRequestError", "NotFoundError", "InternalServerError"] as const;

function openaiNode(major: number, interpreter: (installed: Installed) => string): Client {
  return {
    title: `\`openai\` ${major} (Node ${major === 7 ? 24 : 20})`,
    interpreter,
    program: ["openai.mjs", `openai${major}`],
    line: "new OpenAI(sir())",
    // Its webhooks came with version 5.
    claims: { ...EVERYTHING, "10 minutes": "line", webhooks: major === 4 ? "no" : "unchanged" },
    impatient: { timeout: 30_000, maxRetries: 3 },
    onceOnly: {},
    errors: HTTP_ERRORS,
    aborted: "APIUserAbortError",
  };
}

function vercel(provider: string, line: string): Client {
  return {
    title: `\`ai\` 7 with \`@ai-sdk/${provider}\``,
    interpreter: ({ node24 }) => node24,
    program: ["ai.mjs", provider],
    line,
    claims: {
      ...EVERYTHING,
      "own timeout": "no",
      "10 minutes": "line",
      background: "no",
      batches: "no",
      webhooks: "no",
    },
    impatient: null,
    onceOnly: { maxRetries: 0 },
    errors: ["APICallError", "APICallError", "APICallError"],
    aborted: "DOMException",
  };
}

function python(name: string, title: string): Client {
  return {
    title,
    interpreter: ({ pythons }) => pythons[name],
    program: ["openai_python.py"],
    line: null,
    claims: EVERYTHING,
    impatient: { timeout: 30, max_retries: 3 },
    onceOnly: {},
    errors: HTTP_ERRORS,
    aborted: "CancelledError",
  };
}

export const CLIENTS: readonly Client[] = [
  openaiNode(4, ({ node20 }) => node20),
  openaiNode(5, ({ node20 }) => node20),
  openaiNode(6, ({ node20 }) => node20),
  openaiNode(7, ({ node24 }) => node24),
  vercel("openai", "createOpenAI(sirProvider())"),
  vercel("openai-compatible", 'createOpenAICompatible({ name: "sir", ...sirProvider() })'),
  {
    title: "`@langchain/openai` 1",
    interpreter: ({ node24 }) => node24,
    program: ["langchain.mjs"],
    line: "new ChatOpenAI({ model, ...sirLangChain() })",
    claims: {
      ...EVERYTHING,
      "own timeout": "line",
      "10 minutes": "line",
      background: "no",
      batches: "no",
      webhooks: "no",
    },
    impatient: { timeout: 30_000 },
    onceOnly: { maxRetries: 0 },
    errors: HTTP_ERRORS,
    aborted: "Error",
  },
  python("openai2", "`openai` 2 for Python"),
  python("openai3", "`openai` 3 for Python"),
  {
    title: "`litellm` 1 for Python",
    interpreter: ({ pythons }) => pythons["litellm"],
    program: ["litellm_python.py"],
    line: null,
    claims: { ...EVERYTHING, background: "no", batches: "no", webhooks: "no" },
    impatient: { timeout: 30, max_retries: 3 },
    onceOnly: {},
    errors: ["BadRequestError", "NotFoundError", "BadGatewayError"],
    aborted: "CancelledError",
  },
];

/** The table as it stands in the documentation. */
export function claimsTable(): string {
  const words: Record<Claim, string> = { unchanged: "yes", line: "one line", no: "–" };
  const rows = CLIENTS.map(({ title, claims, line }) => {
    const cells = FEATURES.map((feature) => words[claims[feature]]);
    return `| ${[title, ...cells, line === null ? "none needed" : `\`${line}\``].join(" | ")} |`;
  });
  const head = ["client", ...FEATURES, "the one line"];
  return [`| ${head.join(" | ")} |`, `| ${head.map(() => "---").join(" | ")} |`, ...rows].join("\n");
}
