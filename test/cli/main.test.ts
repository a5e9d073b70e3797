// What was typed: help, versions, guesses, exit statuses, and what goes where.

import { describe, expect, it } from "vitest";
import { terminal } from "./terminal.ts";

describe("sir", () => {
  it("shows examples before anything else, and every command", async () => {
    const { run, out, err } = terminal();

    const code = await run("--help");

    expect(code).toBe(0);
    expect(err()).toBe("");
    expect(out().indexOf("Examples:")).toBeLessThan(out().indexOf("Run it:"));
    for (const name of ["serve", "doctor", "simulate", "config"]) expect(out()).toContain(`  ${name} `);
  });

  it("typed alone shows the same and says that something was missing", async () => {
    const { run, out } = terminal();

    expect(await run()).toBe(2);
    expect(out()).toContain("Examples:");
  });

  it("prints its version", async () => {
    const { run, out } = terminal();

    expect(await run("--version")).toBe(0);
    expect(out()).toBe("9.9.9");
  });

  it.each(["serve", "doctor", "simulate", "config"])("%s has a help with examples first", async (name) => {
    const { run, out } = terminal();

    const code = await run(name, "--help");

    expect(code).toBe(0);
    expect(out().indexOf("Examples:")).toBeGreaterThan(0);
    expect(out().indexOf("Examples:")).toBeLessThan(out().indexOf("Usage:"));
    expect(out()).toContain("--json");
  });

  it("guesses a command", async () => {
    const { run, err, out } = terminal();

    expect(await run("docter")).toBe(2);
    expect(err()).toBe('sir: Unknown command "docter". Did you mean `sir doctor`?');
    expect(out()).toBe("");
  });

  it("guesses a flag, and never ignores one", async () => {
    const { run, err } = terminal();

    expect(await run("serve", "--prot", "9000")).toBe(2);
    expect(err()).toBe("sir: Unknown flag --prot. Did you mean --port?");
  });

  it.each([
    [["serve", "--port"], "--port needs a value."],
    [["serve", "--port", "--json"], "--port needs a value."],
    [["serve", "9000"], 'There is no place for "9000" here.'],
    [["config", "scheme"], '`sir config` prints only its schema; "scheme" is not known.'],
    [["simulate", "essays"], 'There is no scenario "essays". Did you mean "essay"?'],
  ])("refuses %j in words", async (argv, words) => {
    const { run, err } = terminal();

    expect(await run(...argv)).toBe(2);
    expect(err()).toContain(words);
  });

  it("prints a usage error as JSON on standard error when JSON was asked for, and nothing on standard output", async () => {
    const { run, err, out } = terminal();

    expect(await run("serve", "--prot", "1", "--json")).toBe(2);
    expect(JSON.parse(err())).toMatchObject({ error: { code: "usage" } });
    expect(out()).toBe("");
  });

  it("lists what the exit statuses mean", async () => {
    const { run, out } = terminal();

    expect(await run("help", "exit-codes")).toBe(0);
    expect(out()).toMatch(
      /^ {2}8 +doctor found an error; import --strict left something out; replay --check differed$/m,
    );
  });

  it("config schema prints one JSON document", async () => {
    const { run, out } = terminal();

    expect(await run("config", "schema")).toBe(0);
    expect(JSON.parse(out())).toMatchObject({ type: "object", required: ["models"] });
  });
});
