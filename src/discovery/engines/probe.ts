// What a probe for one kind of engine is, and what most of them share: the list of models that speaks OpenAI's API.

import type { FoundEngine, FoundModel } from "../found.ts";
import { listAt, textAt } from "../json-reading.ts";
import type { Site } from "../site.ts";
import type { Surroundings } from "../surroundings.ts";

export interface EngineProbe {
  readonly kind: FoundEngine["kind"];
  /** Where it listens unless told otherwise. */
  readonly ports: readonly number[];
  /** Null: it is another kind. Asks only what changes nothing. */
  look(site: Site, surroundings: Surroundings): Promise<FoundEngine | null>;
}

export function modelNamed(name: string): FoundModel {
  return { name, weightsGiB: null, cache: null, loadedGiB: null, unfit: null };
}

interface ListedModel {
  readonly id: string;
  readonly ownedBy: string;
  readonly raw: unknown;
}

/** `/v1/models`; undefined when there is no such list. */
export async function openAiModels(site: Site): Promise<readonly ListedModel[] | undefined> {
  const list = listAt(await site.json("/v1/models"), "data");
  return list?.flatMap((raw) => {
    const id = textAt(raw, "id");
    return id === null ? [] : [{ id, ownedBy: textAt(raw, "owned_by") ?? "", raw }];
  });
}

/** The list, when all of it is owned by the engine that is looked for. */
export async function modelsOwnedBy(site: Site, owner: string): Promise<readonly ListedModel[] | null> {
  const list = await openAiModels(site);
  const owned = list?.filter(({ ownedBy }) => ownedBy.toLowerCase() === owner) ?? [];
  return owned.length > 0 ? owned : null;
}
