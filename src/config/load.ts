// The one way to a configuration: find the file, read it, lay environment and flags over it, check it, resolve it.

import { backendsOf } from "./backends.ts";
import { check } from "./checks.ts";
import { findConfig } from "./find.ts";
import { explain, type Override, originText, overlay } from "./origin.ts";
import { ConfigError, type Problem, problemsOf } from "./problem.ts";
import { readConfigFile } from "./read-file.ts";
import {
  batchSettings,
  callerKeys,
  deviceSpecs,
  engineSettings,
  jobSettings,
  modelSpec,
  serverSettings,
  syncSettings,
  webhookEndpoints,
} from "./resolve.ts";
import type { BackendGroup, ResolvedConfig } from "./resolved.ts";
import { type ConfigDocument, configSchema } from "./schema.ts";
import { keysOf } from "./schema-keys.ts";
import { bindScheduler } from "./schema-scheduler.ts";
import { storeTarget } from "./store-target.ts";

export interface Flags {
  readonly config?: string;
  readonly host?: string;
  readonly port?: string;
  readonly store?: string;
  readonly logLevel?: string;
}

/** What is read of the process's environment. */
export interface Environment {
  readonly SIR_CONFIG?: string | undefined;
  readonly SIR_HOST?: string | undefined;
  readonly SIR_PORT?: string | undefined;
  readonly SIR_STORE?: string | undefined;
  readonly SIR_LOG_LEVEL?: string | undefined;
}

export interface LoadOptions {
  readonly cwd: string;
  readonly environment: Environment;
  readonly flags?: Flags;
}

const LAYERS = [
  { path: ["server", "host"], variable: "SIR_HOST", flag: "host" },
  { path: ["server", "port"], variable: "SIR_PORT", flag: "port" },
  { path: ["store", "url"], variable: "SIR_STORE", flag: "store" },
  { path: ["log", "level"], variable: "SIR_LOG_LEVEL", flag: "logLevel" },
] as const;

const FLAG_NAME = { host: "--host", port: "--port", store: "--store", logLevel: "--log-level" } as const;

/** Flags over environment over file over defaults. An empty variable counts as not set. */
function overridesOf({ environment, flags = {} }: LoadOptions): Override[] {
  return LAYERS.flatMap(({ path, variable, flag }): Override[] => {
    const fromFlag = flags[flag];
    const text = fromFlag ?? (environment[variable] || undefined);
    if (text === undefined) return [];
    const origin =
      fromFlag === undefined
        ? { kind: "environment" as const, variable }
        : { kind: "flag" as const, flag: FLAG_NAME[flag] };
    return [{ path, value: path[1] === "port" && /^\d+$/.test(text) ? Number(text) : text, origin }];
  });
}

/** @throws {ConfigError} with every problem there is, not only the first */
export async function loadConfig(options: LoadOptions): Promise<ResolvedConfig> {
  const explicit = options.flags?.config ?? (options.environment.SIR_CONFIG || null);
  const { file, baseDir } = findConfig(explicit, options.cwd);
  const written = await readConfigFile(file);
  return resolveConfig(written, { file, baseDir, cwd: options.cwd, overrides: overridesOf(options) });
}

export interface ResolveOptions {
  readonly file: string | null;
  readonly baseDir: string;
  readonly cwd: string;
  readonly overrides: readonly Override[];
}

/** The same from a document in memory. @throws {ConfigError} */
export function resolveConfig(written: unknown, options: ResolveOptions): ResolvedConfig {
  const { file, overrides } = options;
  const document = parse(overlay(written, overrides), file, overrides);

  const devices = deviceSpecs(document);
  const backends = backendsOf(document, (name, model, usesDevice) =>
    modelSpec(name, model, usesDevice, devices, document.scheduler.neverTogether),
  );
  const scheduler = bindScheduler(document.scheduler);
  const storeBase = overrides.some(({ path }) => path[0] === "store") ? options.cwd : options.baseDir;
  const store = storeTarget(document.store.url, storeBase);
  const findings = check({ document, models: backends.models, devices, guards: scheduler.policy.guards });
  const problems: Problem[] = [...backends.problems, ...findings.refused];
  if ("text" in store) throw new ConfigError(file, [...problems, store]);
  if (problems.length > 0) throw new ConfigError(file, problems);

  const shown = {
    ...document,
    scheduler: scheduler.effective,
    devices: Object.fromEntries(devices.map(({ id, memoryGiB, memoryProbe }) => [id, { memoryGiB, memoryProbe }])),
    models: withBackendOptions(document, backends.groups),
  };
  return {
    file,
    server: serverSettings(document),
    sync: syncSettings(document),
    jobs: jobSettings(document),
    batches: batchSettings(document),
    webhooks: webhookEndpoints(document),
    keys: callerKeys(document),
    store,
    logLevel: document.log.level,
    engine: engineSettings(document, backends.models, devices, scheduler),
    backends: backends.groups,
    warnings: findings.warnings,
    unused: scheduler.unused.map((key) => `scheduler.${key}`),
    values: explain(shown, written, file, overrides),
    document,
  };
}

/** What a flag or a variable said is its own fault, not the file's. */
function parse(laid: unknown, file: string | null, overrides: readonly Override[]): ConfigDocument {
  const parsed = configSchema.safeParse(laid);
  if (parsed.success) return parsed.data;
  let foreign = 0;
  const problems = problemsOf(parsed.error, laid, [], (path) => keysOf(configSchema, path)).map((problem) => {
    const said = overrides.find(({ path }) => path.join(".") === problem.path);
    if (said === undefined) return problem;
    foreign++;
    return { ...problem, path: originText(said.origin) };
  });
  throw new ConfigError(foreign === problems.length ? null : file, problems);
}

/** The models as written, with the defaults of their drivers filled in. */
function withBackendOptions(document: ConfigDocument, groups: readonly BackendGroup[]): Record<string, unknown> {
  const shown: Record<string, unknown> = { ...document.models };
  for (const { driver, members } of groups) {
    for (const { spec, options } of members) {
      shown[spec.name] = { ...document.models[spec.name], backend: { driver: driver.name, ...(options as object) } };
    }
  }
  return shown;
}
