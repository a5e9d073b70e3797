// `sir-router/client`: no dependencies and nothing but web APIs, so that it runs in Node, Bun, Deno, browsers and workers.

export type { Client, ClientOptions, ListOptions, RequestJson, RunOptions, SubmitOptions } from "./client.ts";
export { createClient } from "./client.ts";
export type { EndpointOptions, Endpoints } from "./endpoints.ts";
export {
  ApiError,
  ConnectionError,
  DeadlineExceeded,
  ForeignLocation,
  JobCancelled,
  JobExpired,
  JobFailed,
  JobNotFound,
  ModelNotRouted,
  SirError,
} from "./errors.ts";
export type { JobEvent } from "./events.ts";
export type { Job, WaitOptions } from "./job.ts";
export type { LimitOptions } from "./limit.ts";
export type { SirOptions } from "./presets.ts";
export { sir, sirLangChain, sirProvider } from "./presets.ts";
export type { SirFetchOptions } from "./sir-fetch.ts";
export { sirFetch } from "./sir-fetch.ts";
export type { JobErrorWire, ModelWire, QueueWire, Receipt, ResponseWire, WireError, WireStatus } from "./wire.ts";
export type {
  CauseWire,
  ExpectationWire,
  ExplainingDecisionWire,
  ExplanationWire,
  PartWire,
  StretchWire,
} from "./wire-explain.ts";
