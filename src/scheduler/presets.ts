// The `scheduler` block of the founding essay; configurations are made from it by name in the simulator.

/** The rule as the founding essay ran it: the cost of a swap is always charged, and a load may be followed by a swap. */
export const FOUNDING = {
  policy: "model-score",
  minResidencySeconds: 30,
  maxWaitSeconds: 120,
  ageWeight: 1,
  depthWeight: 0.5,
  switchCostWeight: 1,
  idleLapse: false,
  serveBeforeSwap: false,
} as const;
