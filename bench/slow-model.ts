// A configuration whose engine never comes to the end of its first jobs, so that everything after them waits.

export const SLOW_MODEL = "slow";
const NEVER_SECONDS = 100_000;

export function slowConfig(): object {
  return {
    jobs: { leaseSeconds: 3_600, maxQueued: 2_000_000 },
    scheduler: { policy: "model-score", maxWaitSeconds: 7_200 },
    models: {
      [SLOW_MODEL]: {
        concurrency: 1,
        loadSeconds: 0,
        backend: { driver: "mock", loadSeconds: 0, firstTokenSeconds: NEVER_SECONDS },
      },
    },
  };
}
