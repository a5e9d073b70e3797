// Runs replay-thread.ts where nothing was built: a thread does not inherit the loader that lets its parent read TypeScript.

import { register } from "tsx/esm/api";

register();
await import("./replay-thread.ts");
