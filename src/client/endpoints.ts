// Which server has which model. One for all others, and others by name: a service changes from a plain engine to the
// router by changing its environment.

import { ModelNotRouted, refusal, SirError } from "./errors.ts";
import { exchange, type Fetch } from "./exchange.ts";
import { environment } from "./platform.ts";
import type { ModelList } from "./wire.ts";

const DEFAULT_BASE_URL = "http://127.0.0.1:8000/v1";
const DISCOVERY_MS = 30_000;

export interface EndpointOptions {
  /** For models that are not named. Default: `SIR_URL` with `/v1`, else `SIR_BASE_URL`. */
  readonly baseURL?: string | undefined;
  /** Base URLs by model. Default: `SIR_ENDPOINTS`, as `model=url,model=url`. */
  readonly endpoints?: Readonly<Record<string, string>> | undefined;
}

export class Endpoints {
  readonly #byModel = new Map<string, string>();
  #others: string | null;

  /** @throws {SirError} invalid_endpoints, when an address or SIR_ENDPOINTS cannot be read */
  constructor({ baseURL, endpoints }: EndpointOptions = {}) {
    const named = endpoints ?? parseEndpoints(environment("SIR_ENDPOINTS") ?? "");
    for (const [model, url] of Object.entries(named)) this.register(model, url);
    const given = baseURL ?? addressFromEnvironment();
    this.#others = given === null ? (this.#byModel.size === 0 ? DEFAULT_BASE_URL : null) : withVersion(given);
  }

  /** @param url With or without `/v1`. @throws {SirError} invalid_endpoints; a model that is known moves there */
  register(model: string, url: string): void {
    this.#byModel.set(model, withVersion(url));
  }

  /** Exactly that model's, else the one for all others. @throws {ModelNotRouted} */
  resolve(model: string): string {
    const found = this.#byModel.get(model) ?? this.#others;
    if (found !== null) return found;
    const known = this.models.join(", ") || "none";
    throw new ModelNotRouted("model_not_routed", `No endpoint is known for "${model}". Named ones: ${known}.`);
  }

  /** The models that have an endpoint of their own, sorted. */
  get models(): string[] {
    return [...this.#byModel.keys()].sort();
  }

  /** Every base URL once. */
  get all(): string[] {
    return [...new Set([...(this.#others === null ? [] : [this.#others]), ...this.#byModel.values()])];
  }

  /**
   * Asks each server which models it has, and registers them, with their aliases. All of them, or none.
   * @throws {SirError} ambiguous_model when two servers claim one name
   */
  async discover(fetch: Fetch, headers: Record<string, string>, urls: readonly string[] = this.all): Promise<string[]> {
    const found = new Map<string, string>();
    for (const baseURL of urls.map(withVersion)) {
      for (const name of await namesAt(baseURL, fetch, headers)) {
        const other = found.get(name) ?? baseURL;
        if (other !== baseURL) {
          throw new SirError("ambiguous_model", `Both ${other} and ${baseURL} have the model "${name}".`);
        }
        found.set(name, baseURL);
      }
    }
    for (const [name, baseURL] of found) this.#byModel.set(name, baseURL);
    return [...found.keys()].sort();
  }
}

async function namesAt(baseURL: string, fetch: Fetch, headers: Record<string, string>): Promise<string[]> {
  const { response, text } = await exchange(fetch, new URL(`${baseURL}/models`), { headers }, DISCOVERY_MS);
  if (!response.ok) throw refusal(response, text);
  const { data } = JSON.parse(text) as ModelList;
  return data.flatMap(({ id, sir }) => [id, ...(sir?.aliases ?? [])]);
}

/** The base URL of one server: as given, or from the environment, or the router's default. */
export function baseUrlFrom(given: string | undefined): string {
  return withVersion(given ?? addressFromEnvironment() ?? DEFAULT_BASE_URL);
}

function addressFromEnvironment(): string | null {
  return environment("SIR_URL") ?? environment("SIR_BASE_URL") ?? null;
}

/** An address without trailing slashes and with `/v1`. */
function withVersion(url: string): string {
  const bare = url.trim().replace(/\/+$/, "");
  if (!URL.canParse(bare) || !/^https?:/.test(bare)) {
    throw new SirError("invalid_endpoints", `"${url}" is no http address, such as http://127.0.0.1:8000/v1.`);
  }
  return /\/v1$/.test(bare) ? bare : `${bare}/v1`;
}

function parseEndpoints(text: string): Record<string, string> {
  const pairs = text.split(",").filter((pair) => pair.trim() !== "");
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf("=");
      const model = pair.slice(0, at).trim();
      if (at > 0 && model !== "") return [model, pair.slice(at + 1).trim()];
      throw new SirError("invalid_endpoints", `SIR_ENDPOINTS must be model=url,model=url, got "${pair.trim()}".`);
    }),
  );
}
