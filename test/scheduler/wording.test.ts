import { expect, it } from "vitest";
import { cancelSentence } from "../../src/scheduler/wording.ts";

const plain = (text: string): string => text.replaceAll("\u00a0", " ");

it("what became of jobs that were to be cancelled is one sentence, whatever their numbers", () => {
  expect(plain(cancelSentence([]))).toBe("No job was cancelled.");
  expect(plain(cancelSentence(["cancelled"]))).toBe("1 job was cancelled.");
  expect(plain(cancelSentence(["cancelled", "already_over", "cancelled", "not_allowed"]))).toBe(
    "2 jobs were cancelled; 1 job was over already; 1 job was not this key's to cancel.",
  );
  expect(plain(cancelSentence(["not_found", "not_found"]))).toBe(
    "No job was cancelled; 2 jobs were not found any more.",
  );
});
