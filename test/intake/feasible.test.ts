// A deadline that the backlog does not allow: refused for those who ask for that, and then nothing is left behind.

import { expect, test } from "vitest";
import { codeOf, errorOf, type Given, given, prepared } from "./given.ts";

const LONG = { model: "alpha", messages: [{ role: "user", content: "hello" }], max_tokens: 400 };
const refuse = (deadline: string, more: Record<string, string> = {}) => ({
  headers: { "sir-lease": "none", "cancel-after": deadline, "sir-infeasible": "refuse", ...more },
});

/** `alpha` has served a job of some ten seconds, so that its runs are known, and three of them wait. */
async function backlog(): Promise<Given> {
  const world = await given();
  const submit = async () =>
    world.intake.accept(await prepared(world, LONG, { headers: { "sir-lease": "none" } }), "async");
  await submit();
  await world.clock.runUntil(world.clock.nowMs() + 60_000);
  for (let i = 0; i < 3; i++) await submit();
  await world.clock.settle();
  return world;
}

const stored = (world: Given): number => world.sql("SELECT id FROM jobs").length;

test("A deadline before the estimated answer is refused in both modes, says why, and nothing is stored or counted", async () => {
  const world = await backlog();
  const before = [stored(world), world.engine.queue.queuedTotal()];

  for (const mode of ["async", "sync"] as const) {
    const error = await errorOf(world.intake.accept(await prepared(world, LONG, refuse("15s")), mode));

    expect(error).toMatchObject({ code: "deadline_infeasible", detail: { param: "Cancel-After" } });
    expect(error.message).toMatch(
      /^The answer is expected in \d\d s \(2 jobs before it\), after the deadline of 15 s\./,
    );
  }
  expect([stored(world), world.engine.queue.queuedTotal()]).toEqual(before);
});

test("It is accepted where there is time enough, where nobody asked, and under a priority that goes first", async () => {
  const world = await backlog();
  const accepted = (deadline: string, more?: Record<string, string>) =>
    prepared(world, LONG, refuse(deadline, more)).then((call) => codeOf(world.intake.accept(call, "async")));

  expect(await accepted("10m")).toBe("accepted");
  expect(await accepted("15s", { "sir-infeasible": "accept" })).toBe("accepted");
  expect(await accepted("25s")).toBe("deadline_infeasible");
  expect(await accepted("25s", { "sir-priority": "interactive" })).toBe("accepted");
});

test("While nothing is known of a model's runs, no deadline is refused", async () => {
  const world = await given();

  expect(await codeOf(world.intake.accept(await prepared(world, LONG, refuse("1s")), "async"))).toBe("accepted");
});

test("A repeated key meets the job it made, also when its deadline could no longer be kept", async () => {
  const world = await backlog();
  const submit = async (deadline: string, key: string) =>
    world.intake.accept(await prepared(world, LONG, refuse(deadline, { "idempotency-key": key })), "async");
  const first = await submit("10m", "k");

  const again = await submit("1s", "k");

  expect(again).toMatchObject({ replayed: true, job: { id: first.job.id } });
  expect(await codeOf(submit("1s", "another"))).toBe("deadline_infeasible");
});
