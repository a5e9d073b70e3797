// From a model's options to what is executed: placeholders filled in, environment put together, and the letters by
// which a later router knows whether an engine was started as it would start it today.

import { createHash } from "node:crypto";
import type { Member, Placement } from "../backend.ts";
import type { ProbeTarget } from "../probe.ts";
import type { ProcessOptions } from "./options.ts";

export type EngineMember = Member<ProcessOptions>;

export interface LaunchPlan {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | undefined;
}

/** Carried by every process of an engine that does not wipe its environment; its value is the instance's id. */
export const MARKER = "SIR_INSTANCE";

export function servedNameOf({ spec }: EngineMember): string {
  return spec.upstreamName ?? spec.name;
}

export function planLaunch(
  member: EngineMember,
  placement: Placement,
  port: number,
  environment: Readonly<Record<string, string | undefined>>,
): LaunchPlan {
  const { options } = member;
  const values: Readonly<Record<string, string>> = {
    PORT: String(port),
    HOST: options.host,
    MODEL: servedNameOf(member),
    DEVICE: placement.device ?? "",
  };
  const fill = (text: string): string =>
    text.replace(/\$\{(PORT|HOST|MODEL|DEVICE)\}/g, (_, name) => values[name] ?? "");
  const own = { ...options.env, ...options.deviceEnv[placement.device ?? ""] };
  const [program = "", ...args] = options.command.map(fill);
  return {
    program,
    args,
    cwd: options.cwd,
    env: {
      ...passedOn(environment, options.passEnv),
      ...Object.fromEntries(Object.entries(own).map(([name, value]) => [name, fill(value)])),
      [MARKER]: placement.instance,
    },
  };
}

function passedOn(
  environment: Readonly<Record<string, string | undefined>>,
  patterns: readonly string[],
): Record<string, string> {
  const exact = new Set(patterns.filter((each) => !each.endsWith("*")));
  const beginnings = patterns.filter((each) => each.endsWith("*")).map((each) => each.slice(0, -1));
  const passed: Record<string, string> = {};
  for (const [name, value] of Object.entries(environment)) {
    if (value === undefined || name === MARKER) continue;
    if (exact.has(name) || beginnings.some((beginning) => name.startsWith(beginning))) passed[name] = value;
  }
  return passed;
}

/** Equal for two launches that start the same thing. A digest, because options hold secrets. */
export function lettersOf(driver: string, { spec, options }: EngineMember): string {
  const { logLines: _lines, stopGraceSeconds: _grace, stopSignal: _signal, probe: _probe, ...started } = options;
  return createHash("sha256")
    .update(JSON.stringify([driver, spec.name, spec.upstreamName, started]))
    .digest("hex");
}

export function probeTargetOf(member: EngineMember, origin: string): ProbeTarget {
  const { options } = member;
  return {
    origin,
    healthPath: options.healthPath,
    servedName: servedNameOf(member),
    headers: headersOf(options),
    token: options.probe === "auto",
    listed: options.listed,
  };
}

export function headersOf({ apiKey }: Pick<ProcessOptions, "apiKey">): Readonly<Record<string, string>> {
  return apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
}
