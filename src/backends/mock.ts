// The mock driver: engines that follow a timing model instead of a GPU. For tests, for the simulator and for a first
// look without a card. It needs no port and no real timer, so it runs on a virtual clock as well as on a real one.

import { z } from "zod";
import type { Clock } from "../domain/clock.ts";
import type { DeviceId, ModelName } from "../domain/ids.ts";
import type { ModelSpec } from "../domain/model.ts";
import { type Backend, type Driver, type DriverContext, defineDriver, type Member } from "./backend.ts";
import { MockBackend, type MockLab } from "./mock/backend.ts";
import { Compute } from "./mock/processor.ts";

const seconds = (fallback: number, text: string) => z.number().min(0).max(1e6).default(fallback).describe(text);
const count = () => z.int().min(0);

export const mockOptions = z.strictObject({
  loadSeconds: seconds(2, "How long a load takes, in seconds."),
  unloadSeconds: seconds(0.5, "How long an unload takes until the memory is free, in seconds."),
  firstTokenSeconds: seconds(0.2, "Time from a request's start to its first token, in seconds."),
  tokensPerSecond: z.number().positive().max(1e6).default(40).describe("Tokens a second of one request alone."),
  defaultMaxTokens: z.int().min(1).max(1e6).default(64).describe("Tokens generated when the request sets no limit."),
  slowdownPerJob: z
    .number()
    .min(0)
    .max(100)
    .default(0)
    .describe("Alpha: n requests in flight each run at 1 / (1 + alpha (n - 1)) of the pace; 0 means no slowdown."),
  sharesDevice: z
    .boolean()
    .default(false)
    .describe("Whether its requests share the device's compute with those of other mock models that say so too."),
  failLoads: count().default(0).describe("So many loads fail before the first one works."),
  failRequests: count().default(0).describe("So many requests are answered with 500 before the first one works."),
  crashAfterRequests: count()
    .optional()
    .describe(
      "After so many requests since its load, the engine dies in the next one, after two tokens. Absent: never.",
    ),
  hangAfterRequests: count()
    .optional()
    .describe("After so many requests since its load, no further one is answered. Absent: never."),
});

export type MockOptions = z.output<typeof mockOptions>;

/** @param lab What a test or a simulation shares between mock models: faults and a ledger of GPU memory. */
export function mockDriver(lab: MockLab = {}): Driver<typeof mockOptions> {
  const compute = sharedCompute();
  return defineDriver({
    name: "mock",
    options: mockOptions,
    usesDevice: true,
    shareKey: (model: ModelName) => model,
    create(members: readonly Member<MockOptions>[], context: DriverContext): Backend {
      const [member] = members;
      if (member === undefined) throw new Error("a mock backend needs a model");
      return createMockBackend(member.spec, member.options, context, { compute, ...lab });
    },
  });
}

/** One for each device of a router; a router is known by its clock. */
function sharedCompute(): (device: DeviceId, clock: Clock) => Compute {
  const routers = new WeakMap<Clock, Map<DeviceId, Compute>>();
  return (device, clock) => {
    const devices = routers.get(clock) ?? new Map<DeviceId, Compute>();
    routers.set(clock, devices);
    const compute = devices.get(device) ?? new Compute(clock);
    devices.set(device, compute);
    return compute;
  };
}

/** The backend of one mock model, with what only tests ask of it. */
export function createMockBackend(
  spec: ModelSpec,
  options: MockOptions,
  context: DriverContext,
  lab: MockLab = {},
): MockBackend {
  return new MockBackend(spec, options, context, lab);
}
