// `sir serve`: the router, from start to graceful end.

import type { RouterOptions } from "../assemble.ts";
import type { Environment, Flags } from "../config/load.ts";
import { ConfigError } from "../config/problem.ts";
import type { ResolvedConfig } from "../config/resolved.ts";
import { DEFAULT_URL } from "./address.ts";
import { defineSirCommand, type Io } from "./command.ts";
import { CONFIG_ARGS, flagsFrom } from "./config-args.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { requireFreePort } from "./port-holder.ts";
import { openReplayDesk } from "./replay-desk.ts";
import { startFault } from "./start-fault.ts";

export interface RunningRouter {
  readonly url: string;
  /** Takes over what changed; jobs stay. */
  reload(config: ResolvedConfig): Promise<void>;
  /** Finishes running work for `shutdownSeconds`, gives back the rest, flushes the store. */
  close(): Promise<void>;
  /** Resolves with the reason when the router can no longer keep its promises and must end. */
  readonly failed: Promise<Error>;
}

export interface StartOptions {
  readonly version: string;
  readonly judge: NonNullable<RouterOptions["judge"]>;
  readonly replays: NonNullable<RouterOptions["replays"]>;
  /** Takes the log's lines where somebody sits before them; absent: JSON. */
  readonly say?: ((line: string) => void) | undefined;
}

export type StartRouter = (config: ResolvedConfig, options: StartOptions) => Promise<RunningRouter>;

/** How much longer than `shutdownSeconds` a graceful end may take. */
const CLOSE_SLACK_MS = 15_000;

export const serve = defineSirCommand({
  name: "serve",
  summary: "Start the router. SIGTERM ends it gracefully, SIGHUP re-reads the configuration.",
  examples: [
    ["sir serve", "sir.config.ts of this folder, else the shipped one with two mock models"],
    ["sir serve --config /etc/sir/sir.config.ts --port 9000", "another file, another port"],
    ["sir serve --store sqlite:/var/lib/sir/sir.db", "another database"],
  ],
  args: CONFIG_ARGS,
  run: async (args, io) => {
    const flags = flagsFrom(args);
    const start: StartRouter = async (config, options) => {
      const surroundings = { environment: io.environment, platform: process.platform, arch: process.arch, root: "" };
      await requireFreePort(config.server, flags.config, surroundings);
      return (await import("../assemble.ts")).startRouter(config, options);
    };
    return await serveRouter(flags, args["json"] === true, io, start);
  },
});

/** Only read when settings are on trial: the simulator is no part of serving. */
const judge: StartOptions["judge"] = async (history, tuning, nowMs) =>
  (await import("../simulator/tuning-judge.ts")).judgeTuning(history, tuning, nowMs);

export async function serveRouter(flags: Flags, json: boolean, io: Io, start: StartRouter): Promise<ExitCode> {
  const { loadConfig } = await import("../config/load.ts");
  const read = (): Promise<ResolvedConfig> =>
    loadConfig({ cwd: io.cwd, environment: io.environment satisfies Environment, flags });
  const config = await read();
  for (const warning of config.warnings) io.err(`warning: ${warning}`);

  let router: RunningRouter;
  try {
    router = await start(config, {
      version: io.version,
      judge,
      replays: openReplayDesk,
      say: io.screen.err && !json ? io.err : undefined,
    });
  } catch (error) {
    const fault = startFault(error, { ...config.server, dataDir: config.store.dataDir });
    if (fault === null) throw error;
    if (json) io.err(JSON.stringify({ error: { code: "start_failed", message: fault.text, mend: fault.mend } }));
    else io.err(`sir: ${fault.text}\n     mend: ${fault.mend}`);
    return EXIT.failed;
  }

  const forget = io.onSignal("SIGHUP", () => void reload(read, config, router, io));
  const ended = untilEnd(config, router, io);
  // Last: whoever reads where the router is may send it a signal at once.
  io.out(json ? JSON.stringify(facts(config, router, io)) : banner(config, router, io));
  if (isElsewhere(flags, config, router.url))
    io.say(`sir: the other commands find it with: export SIR_URL=${router.url}`);
  const code = await ended;
  forget();
  return code;
}

/** A configuration that is refused changes nothing: the router goes on with the one it has. */
async function reload(
  read: () => Promise<ResolvedConfig>,
  started: ResolvedConfig,
  router: RunningRouter,
  io: Io,
): Promise<void> {
  try {
    const next = await read();
    for (const warning of next.warnings) io.err(`warning: ${warning}`);
    await router.reload(next);
    io.err(`sir: read ${next.file ?? "the configuration"} again: ${next.engine.models.length} models.`);
    for (const path of onlyAtStart(started, next)) io.err(`warning: ${path} takes effect at the next start only.`);
  } catch (error) {
    const text =
      error instanceof ConfigError || !(error instanceof Error) ? String(error) : (error.stack ?? error.message);
    io.err(`sir: the configuration was not taken over; the router goes on as it was. ${text}`);
  }
}

/** What differs from the start and is not models, scheduling or keys: only those are taken over while running. */
function onlyAtStart(started: ResolvedConfig, next: ResolvedConfig): string[] {
  const before = new Map(started.values.map(({ path, value }) => [path, JSON.stringify(value)]));
  const changed = next.values.filter(({ path, value }) => before.get(path) !== JSON.stringify(value));
  return changed.map(({ path }) => path).filter((path) => !/^(models|scheduler|keys)\b/.test(path));
}

async function untilEnd(config: ResolvedConfig, router: RunningRouter, io: Io): Promise<ExitCode> {
  const stops: (() => void)[] = [];
  const asked = new Promise<string>((resolve) => {
    stops.push(
      io.onSignal("SIGTERM", () => resolve("SIGTERM")),
      io.onSignal("SIGINT", () => resolve("SIGINT")),
    );
  });
  const why = await Promise.race([asked, router.failed]);
  for (const stop of stops) stop();
  if (why instanceof Error) io.err(`sir: ending, because no promise can be kept any more: ${why.message}`);
  else io.err(`sir: ${why}: no new work; running work may finish for ${config.server.shutdownMs / 1000} s.`);

  // Whoever asks twice does not want to wait; what runs is recovered at the next start.
  const again = [
    io.onSignal("SIGINT", () => io.abort(EXIT.interrupted)),
    io.onSignal("SIGTERM", () => io.abort(EXIT.failed)),
  ];
  const limitMs = io.clock.nowMs() + config.server.shutdownMs + CLOSE_SLACK_MS;
  const backstop = io.clock.at(limitMs, () => {
    io.err("sir: the router did not end in time; what ran is recovered at the next start.");
    io.abort(EXIT.failed);
  });
  await router.close();
  backstop.cancel();
  for (const stop of again) stop();
  return why instanceof Error ? EXIT.failed : EXIT.done;
}

function facts(config: ResolvedConfig, { url }: RunningRouter, { version }: Io): object {
  const { engine, store, file } = config;
  const models = engine.models.map((model) => model.name);
  const devices = engine.devices.map((device) => device.id);
  return { version, url, models, devices, policy: engine.policy.name, store: store.url, config: file };
}

/** Whether a command in this folder, which knows none of these flags, would ask another address. */
function isElsewhere({ host, port, config }: Flags, { server }: ResolvedConfig, url: string): boolean {
  if (url === DEFAULT_URL) return false;
  return server.port === 0 || [host, port, config].some((flag) => flag !== undefined);
}

function banner(config: ResolvedConfig, { url }: RunningRouter, { version }: Io): string {
  const { engine, store, file } = config;
  const models = engine.models.map(({ name, label }) => (label === name ? name : `${name} (${label})`)).join(", ");
  const devices = engine.devices
    .map(({ id, memoryGiB }) => (memoryGiB === null ? id : `${id} ${memoryGiB} GiB`))
    .join(", ");
  return [
    `sir ${version} at ${url}/v1`,
    `  page    ${url}/dashboard/`,
    `  models  ${models}`,
    `  devices ${devices}`,
    `  policy  ${engine.policy.name}`,
    `  store   ${store.url}`,
    `  config  ${file ?? "none"}`,
  ].join("\n");
}
