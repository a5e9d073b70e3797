// Which server has which model. One for all others, and others by name: a service changes from a plain engine to the
// router by changing its environment.

import { ModelNotRouted, SirError } from "./errors.ts";
import { environment } from "./platform.ts";

const DEFAULT_BASE_URL = "http://127.0.0.1:8000/v1";

export interface EndpointOptions {
  /** For models that are not named. Default: `SIR_URL` with `/v1`, else `SIR_BASE_URL`. */
  readonly baseURL?: string | undefined;
  /** Base URLs by model. Default: `SIR_ENDPOINTS`, as `model=url,model=url`. */
  readonly endpoints?: Readonly<Record<string, string>> | undefined;
}

export interface Endpoints {
  /** @param url With or without `/v1`. A model that is known already moves there. @throws {SirError} invalid_endpoints */
  register(model: string, url: string): void;
  /** Exactly that model's base URL, else the one for all others. @throws {ModelNotRouted} */
  resolve(model: string): string;
  /** The models that have an endpoint of their own, sorted. */
  models(): string[];
  /** Every base URL once. */
  all(): string[];
}

/** @throws {SirError} invalid_endpoints, when an address or SIR_ENDPOINTS cannot be read */
export function endpointsOf({ baseURL, endpoints }: EndpointOptions): Endpoints {
  const byModel = new Map<string, string>();
  const register = (model: string, url: string): void => void byModel.set(model, baseUrlFrom(url));
  for (const [model, url] of endpoints ? Object.entries(endpoints) : endpointsFromEnvironment()) register(model, url);
  const named = byModel.size > 0 && (baseURL ?? addressFromEnvironment()) === undefined;
  const others = named ? [] : [baseUrlFrom(baseURL)];
  const models = (): string[] => [...byModel.keys()].sort();
  return {
    register,
    models,
    all: () => [...new Set([...others, ...byModel.values()])],
    resolve: (model) => {
      const found = byModel.get(model) ?? others[0];
      if (found !== undefined) return found;
      const message = `No endpoint is known for "${model}". Named ones: ${models().join(", ")}.`;
      throw new ModelNotRouted("model_not_routed", message);
    },
  };
}

/**
 * The base URL of one server, without trailing slashes and with `/v1`: as given, or from the environment, or the router's
 * default. @throws {SirError} invalid_endpoints
 */
export function baseUrlFrom(given = addressFromEnvironment() ?? DEFAULT_BASE_URL): string {
  const bare = given.trim().replace(/\/+$/, "");
  if (/^https?:/.test(bare) && URL.canParse(bare)) return bare.endsWith("/v1") ? bare : `${bare}/v1`;
  throw new SirError("invalid_endpoints", `"${given}" is no address such as ${DEFAULT_BASE_URL}.`);
}

function addressFromEnvironment(): string | undefined {
  return environment("SIR_URL") ?? environment("SIR_BASE_URL");
}

function endpointsFromEnvironment(): [string, string][] {
  const pairs = (environment("SIR_ENDPOINTS") ?? "").split(",").filter((pair) => pair.trim());
  return pairs.map((pair) => {
    const [, model, url] = /^\s*([^=]*[^=\s])\s*=(.*)$/.exec(pair) ?? [];
    if (model !== undefined && url !== undefined) return [model, url];
    throw new SirError("invalid_endpoints", `SIR_ENDPOINTS is not model=url,model=url: "${pair}"`);
  });
}
