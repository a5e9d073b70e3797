// Headers: hints that cannot be read are ignored, promises that cannot be read are refused.

import fc from "fast-check";
import { expect, test } from "vitest";
import { PRIORITY_LIMIT } from "../../src/domain/band.ts";
import { SirError } from "../../src/domain/errors.ts";
import { type HeaderFields, readHeaders } from "../../src/intake/headers.ts";

const SETTINGS = { leaseMs: 60_000, sweepMs: 1000 };
const TRACE = "0af7651916cd43dd8448eb211c80319c";
const PARENT = "b7ad6b7169203331";

function read(headers: Readonly<Record<string, string>>): HeaderFields {
  return readHeaders((name) => headers[name] ?? null, SETTINGS);
}

function refusal(headers: Readonly<Record<string, string>>): string {
  try {
    read(headers);
  } catch (error) {
    if (error instanceof SirError) return error.code;
    throw error;
  }
  return "accepted";
}

test("Without headers the defaults hold", () => {
  expect(read({})).toEqual({
    priority: null,
    leaseMs: 60_000,
    deadlineMs: null,
    refuseInfeasible: false,
    idempotencyKey: null,
    retryCount: null,
    traceparent: null,
    clientRequestId: null,
    forwarded: {},
  });
});

test("An Idempotency-Key is the same key bare and in quotes", () => {
  expect(read({ "idempotency-key": "8e03978e" }).idempotencyKey).toBe("8e03978e");
  expect(read({ "idempotency-key": '"8e03978e"' }).idempotencyKey).toBe("8e03978e");
  expect(read({ "idempotency-key": String.raw`"a\"b\\c"` }).idempotencyKey).toBe(String.raw`a"b\c`);
  expect(read({ "idempotency-key": "k".repeat(255) }).idempotencyKey).toHaveLength(255);
});

test.each(["", '""', "k".repeat(256), "a b", "ké", '"open', '"a"b"', String.raw`"a\n"`, "one, two", "tab\tbed"])(
  "The Idempotency-Key %j is refused",
  (key) => {
    expect(refusal({ "idempotency-key": key })).toBe("invalid_idempotency_key");
  },
);

test("SIR-Infeasible is refuse or accept; another word is refused, because a caller would rely on it", () => {
  expect(read({ "sir-infeasible": " Refuse" }).refuseInfeasible).toBe(true);
  expect(read({ "sir-infeasible": "accept" }).refuseInfeasible).toBe(false);
  for (const text of ["", "yes", "refuse, accept"]) expect(refusal({ "sir-infeasible": text })).toBe("invalid_header");
});

test.each([
  ["90s", 90_000],
  ["5m", 300_000],
  ["1h30m", 5_400_000],
  ["1h1m1s", 3_661_000],
  ["30", 30_000],
  [" 2h ", 7_200_000],
])("Cancel-After %j is %d ms", (text, ms) => {
  expect(read({ "cancel-after": text }).deadlineMs).toBe(ms);
});

test.each(["", "s", "soon", "0s", "-5s", "1.5s", "5 m", "30m1h", "1d", "9999999999s", "721h", "1h30m5x"])(
  "Cancel-After %j is refused, because a caller would rely on it",
  (text) => {
    expect(refusal({ "cancel-after": text })).toBe("invalid_header");
  },
);

test.each([
  ["120", 120_000],
  ["1.5", 1500],
  ["86400", 86_400_000],
  ["none", null],
  ["NONE", null],
])("SIR-Lease %j is %s ms", (text, ms) => {
  expect(read({ "sir-lease": text }).leaseMs).toBe(ms);
});

test.each(["", "1", "0", "-60", "86401", "60s", "forever", "1e3", "Infinity", "0x10"])(
  "SIR-Lease %j is refused, because a caller would rely on it",
  (text) => {
    expect(refusal({ "sir-lease": text })).toBe("invalid_header");
  },
);

test("SIR-Priority wins over X-LlamaSwap-Priority, even when it cannot be read", () => {
  expect(read({ "sir-priority": "batch", "x-llamaswap-priority": "interactive" }).priority).toBe(-100);
  expect(read({ "x-llamaswap-priority": "Interactive" }).priority).toBe(100);
  expect(read({ "sir-priority": "urgent", "x-llamaswap-priority": "7" }).priority).toBe(0);
  expect(read({ "sir-priority": "-12" }).priority).toBe(-12);
});

test("Whatever stands in a priority header, it is never an error and always a bounded integer", () => {
  const odd = fc.constantFrom(
    "constructor",
    "__proto__",
    "toString",
    "1e9",
    "NaN",
    "9".repeat(400),
    "+5",
    "null",
    "{}",
  );
  fc.assert(
    fc.property(fc.oneof(odd, fc.string(), fc.double().map(String)), (text) => {
      const { priority } = read({ "sir-priority": text });
      expect(Number.isInteger(priority)).toBe(true);
      expect(Math.abs(priority ?? Number.NaN)).toBeLessThanOrEqual(PRIORITY_LIMIT);
    }),
  );
});

test.each([`00-${TRACE}-${PARENT}-01`, `00-${TRACE}-${PARENT}-ff`])("traceparent %s is kept", (text) => {
  expect(read({ traceparent: text }).traceparent).toBe(text);
});

test("A traceparent of a later version keeps what this version defines", () => {
  expect(read({ traceparent: `cc-${TRACE}-${PARENT}-01-what-the-future` }).traceparent).toBe(
    `cc-${TRACE}-${PARENT}-01`,
  );
});

test.each([
  "",
  `ff-${TRACE}-${PARENT}-01`,
  `00-${TRACE.toUpperCase()}-${PARENT}-01`,
  `00-${"0".repeat(32)}-${PARENT}-01`,
  `00-${TRACE}-${"0".repeat(16)}-01`,
  `00-${TRACE}-${PARENT}-01-more`,
  `00-${TRACE}-${PARENT}`,
  `00-${TRACE}-${PARENT}-1`,
  ` 00-${TRACE}-${PARENT}-01`,
])("The invalid traceparent %j is ignored", (text) => {
  expect(read({ traceparent: text }).traceparent).toBeNull();
});

test("Client request ids, repetitions and what the engine gets", () => {
  const fields = read({
    "x-client-request-id": "req 1/2",
    "x-stainless-retry-count": "2",
    accept: "text/event-stream",
    "user-agent": "OpenAI/JS 6.49.0",
    authorization: "Bearer secret",
    cookie: "a=b",
  });

  expect(fields).toMatchObject({
    clientRequestId: "req 1/2",
    retryCount: 2,
    forwarded: { accept: "text/event-stream", "user-agent": "OpenAI/JS 6.49.0" },
  });
  expect(read({ "x-client-request-id": "x".repeat(513) }).clientRequestId).toBeNull();
  expect(read({ "x-client-request-id": "naïve" }).clientRequestId).toBeNull();
  expect(read({ "x-stainless-retry-count": "many" }).retryCount).toBeNull();
});

test("Junk of 8 KiB in any header is read in no time", () => {
  const junk = `${'\\"'.repeat(2048)}${"1h".repeat(1000)}${" ".repeat(2048)}`;
  const startMs = performance.now();
  for (const name of ["sir-priority", "traceparent", "x-client-request-id"]) read({ [name]: junk });
  for (const name of ["idempotency-key", "cancel-after", "sir-lease"]) refusal({ [name]: junk });
  expect(performance.now() - startMs).toBeLessThan(500);
});
