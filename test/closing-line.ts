// Prints the one plain line that a pipeline reads; vitest's own is coloured and split.

import type { Reporter, TestModule } from "vitest/node";

export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const states = modules.flatMap((module) => [...module.children.allTests()].map((test) => test.result().state));
    const count = (state: string): number => states.filter((each) => each === state).length;
    const broken = modules.filter((module) => module.state() === "failed" && module.errors().length > 0).length;
    const failed = count("failed") + broken + errors.length;
    console.log(`${count("passed")} passed, ${failed} failed, ${count("skipped")} skipped`);
  }
}
