// The triton driver: models of one Triton server in explicit model control, loaded and unloaded by its repository API and
// served by its OpenAI frontend. An unload answers before the model is gone; the repository's index says when it is.

import { z } from "zod";
import { defineDriver, LoadError } from "./backend.ts";
import { type Dialect, type Listed, listIn, refusalOf, textOf } from "./model-server/dialect.ts";
import { ModelServer } from "./model-server/model-server.ts";
import { originField, originOf, serverFields } from "./model-server/options.ts";
import { screenResponseFormat } from "./triton/response-format.ts";

const ASK_MS = 5_000;
const UNLOAD_MS = 30_000;

const tritonOptions = z.strictObject({
  ...serverFields("http://127.0.0.1:8000"),
  inferenceUrl: originField("http://127.0.0.1:9000").describe("Address of Triton's OpenAI frontend, without a path."),
  config: z
    .record(z.string(), z.json())
    .optional()
    .describe("Model configuration (ModelConfig as JSON) to load with. Absent: the one in the repository."),
  passesResponseFormat: z
    .boolean()
    .default(false)
    .describe("True: this frontend hands response_format on. False: it drops it, and bodies that have it are refused."),
});

type TritonOptions = z.output<typeof tritonOptions>;

export const triton = defineDriver({
  name: "triton",
  options: tritonOptions,
  usesDevice: true,
  shareKey: (_model, options: TritonOptions) => originOf(options),
  create: (members, context) => new ModelServer(dialect, members, context),
});

const STATES: Readonly<Record<string, Listed["state"]>> = {
  READY: "ready",
  LOADING: "loading",
  UNLOADING: "leaving",
  UNAVAILABLE: "absent",
};
/** Of several versions of a model the first in this order speaks for it. */
const ORDER: readonly Listed["state"][] = ["ready", "loading", "leaving", "absent"];

const dialect: Dialect<TritonOptions> = {
  server: "Triton",

  async list(http, signal) {
    const ask = { method: "POST", path: "/v2/repository/index", limitMs: ASK_MS, signal } as const;
    const answer = await http.ask({ ...ask, body: { ready: false } });
    const byName = new Map<string, Listed>();
    for (const each of listIn("Triton", answer, null)) {
      const entry = listed(each);
      const other = byName.get(entry.name);
      if (other === undefined || ORDER.indexOf(entry.state) < ORDER.indexOf(other.state)) byName.set(entry.name, entry);
    }
    return [...byName.values()];
  },

  async load({ http, name, member, signal }, found) {
    // A load of a loaded model would be a reload.
    if (found.state === "ready") return;
    const { config } = member.options;
    const body = config === undefined ? {} : { parameters: { config: JSON.stringify(config) } };
    const path = `/v2/repository/models/${encodeURIComponent(name)}/load`;
    const answer = await http.ask({ method: "POST", path, body, limitMs: null, signal });
    if (answer.status !== 200) throw new LoadError(refusalOf("Triton", `load ${name}`, answer));
  },

  async unload({ http, name, signal }) {
    const path = `/v2/repository/models/${encodeURIComponent(name)}/unload`;
    const body = { parameters: { unload_dependents: true } };
    const answer = await http.ask({ method: "POST", path, body, limitMs: UNLOAD_MS, signal });
    if (answer.status !== 200) throw new LoadError(refusalOf("Triton", `unload ${name}`, answer));
  },

  inferenceOrigin: ({ inferenceUrl }) => new URL(inferenceUrl).origin,

  disowns: (status, text) => status >= 400 && status < 500 && /unknown model|is not ready|not found/i.test(text),

  screen: async (call, { passesResponseFormat }) =>
    passesResponseFormat ? { call, refusal: () => null } : screenResponseFormat(call),
};

/** A model that was never loaded has neither state nor reason. */
function listed(model: unknown): Listed {
  const state = STATES[textOf(model, "state")] ?? "absent";
  const reason = textOf(model, "reason");
  const why = state === "absent" && reason !== "" && reason !== "unloaded" ? { detail: reason.slice(0, 300) } : {};
  return { name: textOf(model, "name"), state, ...why };
}
