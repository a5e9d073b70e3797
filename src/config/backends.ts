// Each model's `backend`: the driver by name, its options by the driver's own schema, models that share one together.

import type { Driver } from "../backends/backend.ts";
import { drivers } from "../backends/registry.ts";
import type { ModelSpec } from "../domain/model.ts";
import { closest } from "./closest.ts";
import { type Problem, pathText, problemsOf } from "./problem.ts";
import type { BackendGroup } from "./resolved.ts";
import type { ConfigDocument, ModelDocument } from "./schema.ts";
import { keysOf } from "./schema-keys.ts";

export interface Backends {
  readonly models: readonly ModelSpec[];
  readonly groups: readonly BackendGroup[];
  readonly problems: readonly Problem[];
}

type ToSpec = (name: string, model: ModelDocument, usesDevice: boolean) => ModelSpec;

interface Group {
  readonly driver: Driver;
  readonly shareKey: string;
  readonly members: { spec: ModelSpec; options: unknown }[];
}

export function backendsOf(document: ConfigDocument, toSpec: ToSpec): Backends {
  const models: ModelSpec[] = [];
  const groups = new Map<string, Group>();
  const problems: Problem[] = [];
  for (const [name, model] of Object.entries(document.models)) {
    const driver = driverOf(name, model, problems);
    const spec = toSpec(name, model, driver?.usesDevice ?? true);
    models.push(spec);
    if (driver === null) continue;
    const { driver: _named, ...given } = model.backend;
    const parsed = driver.options.safeParse(given);
    if (!parsed.success) {
      problems.push(
        ...problemsOf(parsed.error, given, ["models", name, "backend"], (path) =>
          keysOf(driver.options, path.slice(3)),
        ),
      );
      continue;
    }
    const shareKey = driver.shareKey(spec.name, parsed.data);
    const groupKey = `${driver.name} ${shareKey}`;
    const group = groups.get(groupKey) ?? { driver, shareKey, members: [] };
    group.members.push({ spec, options: parsed.data });
    groups.set(groupKey, group);
  }
  return { models, groups: [...groups.values()], problems };
}

function driverOf(name: string, model: ModelDocument, problems: Problem[]): Driver | null {
  const wanted = model.backend.driver;
  const driver = drivers.find((each) => each.name === wanted);
  if (driver !== undefined) return driver;
  const known = drivers.map((each) => each.name);
  const near = closest(wanted, known);
  const mend = near === null ? `Known: ${known.join(", ")}.` : `Did you mean "${near}"?`;
  problems.push({
    path: pathText(["models", name, "backend", "driver"]),
    text: `"${wanted}" is no known driver.`,
    mend,
  });
  return null;
}
