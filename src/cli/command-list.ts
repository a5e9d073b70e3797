// Every command, by what it is for. Each is imported only when it is called: a help must not wait for a database.

import type { Command } from "./command.ts";

interface Entry {
  readonly summary: string;
  load(): Promise<Command>;
}

const RUN: Readonly<Record<string, Entry>> = {
  serve: { summary: "Start the router.", load: async () => (await import("./serve.ts")).serve },
  doctor: {
    summary: "Check the configuration and everything it names.",
    load: async () => (await import("./doctor.ts")).doctor,
  },
  init: {
    summary: "Look at this machine and write a configuration for what runs on it.",
    load: async () => (await import("./init.ts")).init,
  },
  keys: {
    summary: "Make an API key, list the configured ones, or say whose a key is.",
    load: async () => (await import("./keys.ts")).keys,
  },
  import: {
    summary: "Take over the configuration of llama-swap.",
    load: async () => (await import("./import.ts")).importCommand,
  },
  backup: {
    summary: "Copy the store, also while a router uses it.",
    load: async () => (await import("./backup.ts")).backup,
  },
  completion: {
    summary: "Print a script that completes `sir` in bash, zsh, fish or PowerShell.",
    load: async () => (await import("./completion.ts")).completion,
  },
  config: {
    summary: "Print the JSON Schema of the configuration.",
    load: async () => (await import("./config.ts")).config,
  },
};

const LOOK: Readonly<Record<string, Entry>> = {
  status: {
    summary: "Say what each device does, why, and what comes next.",
    load: async () => (await import("./status.ts")).status,
  },
  top: {
    summary: "Watch what each device does: models over time, queues, decisions, jobs.",
    load: async () => (await import("./top.ts")).top,
  },
  jobs: {
    summary: "List jobs and where their time went; show one, wait for its answer, cancel some.",
    load: async () => (await import("./jobs.ts")).jobs,
  },
  explain: {
    summary: "Say why a job took as long as it did, why a decision was made, why a device does what it does.",
    load: async () => (await import("./explain.ts")).explain,
  },
  decisions: {
    summary: "List what the scheduler decided and why; follow it; show one with all its numbers.",
    load: async () => (await import("./decisions.ts")).decisions,
  },
  models: {
    summary: "List the models; load, unload, pin, unpin or drain one; read its engine's log.",
    load: async () => (await import("./models.ts")).models,
  },
};

const ACT: Readonly<Record<string, Entry>> = {
  submit: {
    summary: "Send a request, watch where it stands, and print its answer.",
    load: async () => (await import("./submit.ts")).submit,
  },
  hints: {
    summary: "Say beforehand which model will be needed; list or remove what was said.",
    load: async () => (await import("./hints.ts")).hints,
  },
  pause: {
    summary: "Start no more jobs and move no model.",
    load: async () => (await import("./pause.ts")).pause,
  },
  resume: {
    summary: "Go on after a pause or a drain.",
    load: async () => (await import("./pause.ts")).resume,
  },
};

const PLAN: Readonly<Record<string, Entry>> = {
  simulate: {
    summary: "Run a scenario through the scheduler in virtual time.",
    load: async () => (await import("./simulate.ts")).simulate,
  },
  replay: {
    summary: "Run recorded traffic again, under other settings, and compare.",
    load: async () => (await import("./replay.ts")).replay,
  },
  tune: {
    summary: "Say from recorded days whether a setting of the policy should be another.",
    load: async () => (await import("./tune.ts")).tune,
  },
};

/** As the overview shows them. */
export const GROUPS: Readonly<Record<string, Readonly<Record<string, Entry>>>> = {
  "Run it": RUN,
  Look: LOOK,
  Act: ACT,
  Plan: PLAN,
};

export const COMMANDS: Readonly<Record<string, Entry>> = { ...RUN, ...LOOK, ...ACT, ...PLAN };
