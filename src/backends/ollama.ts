// The ollama driver: models of one Ollama server, loaded and unloaded by `keep_alive`. Ollama loads whatever a request
// names, so a load here is a promise to keep the model, and `/api/ps` says whether it was kept.

import { z } from "zod";
import { defineDriver, LoadError } from "./backend.ts";
import {
  type Dialect,
  type Listed,
  listIn,
  numberOf,
  type Request,
  refusalOf,
  textOf,
} from "./model-server/dialect.ts";
import { ModelServer } from "./model-server/model-server.ts";
import { originOf, serverFields } from "./model-server/options.ts";
import type { Answer } from "./model-server/server-http.ts";
import { isCalled } from "./model-server/server-talk.ts";

const ASK_MS = 5_000;
const UNLOAD_MS = 10_000;
/** "For ever" is some 290 years to Ollama; anything nearer was set by somebody else. */
const FOR_EVER_MS = 10 * 365 * 86_400_000;
const GIB = 1024 ** 3;

export const ollamaOptions = z.strictObject({
  ...serverFields("http://127.0.0.1:11434"),
  allowCpu: z
    .boolean()
    .default(false)
    .describe(
      "True: a model may lie partly or wholly in CPU memory. False: that means that it does not fit, and is a failed load.",
    ),
});

type OllamaOptions = z.output<typeof ollamaOptions>;

export const ollama = defineDriver({
  name: "ollama",
  options: ollamaOptions,
  usesDevice: true,
  shareKey: (_model, options: OllamaOptions) => originOf(options),
  create: (members, context) => new ModelServer(dialect, members, context),
});

/**
 * No options are ever sent with a load: `/v1` requests carry none, and Ollama reloads a model whose options differ.
 * A context length belongs into the Modelfile or `OLLAMA_CONTEXT_LENGTH`.
 */
const dialect: Dialect<OllamaOptions> = {
  server: "Ollama",

  async list(http, signal, { allowCpu }) {
    const answer = await http.ask({ method: "GET", path: "/api/ps", limitMs: ASK_MS, signal });
    return listIn("Ollama", answer, "models").map((each) => listed(each, allowCpu));
  },

  async load(request) {
    const answer = await keep(request);
    const { name, http, signal, member } = request;
    if (answer.status === 200) {
      const list = await this.list(http, signal, member.options);
      if (list.length === 0 || list.some((each) => isCalled(each, name))) return;
      const running = list.map((each) => each.name).join(", ");
      throw new LoadError(
        `Ollama says that ${name} is loaded, but lists ${running}: names with the same weights share one runner there`,
      );
    }
    if (answer.status === 404) throw new LoadError(`Ollama has no model ${name}: run "ollama pull ${name}" there`);
    throw new LoadError(refusalOf("Ollama", `load ${name}`, answer));
  },

  async unload({ http, name, signal }) {
    const body = { model: name, keep_alive: 0, stream: false };
    const answer = await http.ask({ method: "POST", path: "/api/generate", body, limitMs: UNLOAD_MS, signal });
    if (answer.status !== 200 && answer.status !== 404)
      throw new LoadError(refusalOf("Ollama", `unload ${name}`, answer));
  },

  async tend(request, { expiresAtMs }, wallMs) {
    if (expiresAtMs === undefined || expiresAtMs > wallMs + FOR_EVER_MS) return null;
    const answer = await keep(request);
    const until = new Date(expiresAtMs).toISOString();
    if (answer.status !== 200) return refusalOf("Ollama", "keep it for ever", answer);
    return `Somebody else had set it to expire at ${until}; it is kept for ever again.`;
  },
};

/** Loads, or only renews the promise. What only embeds knows no `generate`. */
async function keep({ http, name, signal }: Request<OllamaOptions>): Promise<Answer> {
  const ask = { method: "POST", limitMs: null, signal } as const;
  const asks = { model: name, keep_alive: -1, stream: false };
  const answer = await http.ask({ ...ask, path: "/api/generate", body: asks });
  if (answer.status !== 400 || !answer.message.includes("does not support generate")) return answer;
  return http.ask({ ...ask, path: "/api/embed", body: { model: name, keep_alive: -1, input: [] } });
}

function listed(model: unknown, allowCpu: boolean): Listed {
  const name = textOf(model, "name");
  const size = numberOf(model, "size") ?? 0;
  const onGpu = numberOf(model, "size_vram") ?? 0;
  const expiresAtMs = Date.parse(textOf(model, "expires_at"));
  const context = numberOf(model, "context_length");
  return {
    name,
    aliases: name.endsWith(":latest") ? [name.slice(0, -":latest".length)] : [],
    state: "ready",
    ...(Number.isNaN(expiresAtMs) ? {} : { expiresAtMs }),
    ...(context === null ? {} : { shape: `context ${context}` }),
    ...(allowCpu || onGpu >= size ? {} : { misfit: spilled(name, onGpu, size) }),
  };
}

function spilled(name: string, onGpu: number, size: number): string {
  const amounts = `${(onGpu / GIB).toFixed(1)} of ${(size / GIB).toFixed(1)} GiB`;
  return `${name} does not fit: Ollama put ${amounts} on the GPU and the rest into CPU memory (allowCpu permits that)`;
}
