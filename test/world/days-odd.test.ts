// Half of the simulated days; the other half runs beside it.

import { describe } from "vitest";
import { itLivesThrough } from "./days.ts";

describe("simulated days with an odd seed", () => {
  itLivesThrough(1);
});
