// Which pages of docs/reference are written by a program, and by which.

import { commandsPage } from "./commands.ts";
import { configurationPage } from "./configuration.ts";
import { decisionReasonsPage } from "./decision-reasons.ts";
import { errorsPage } from "./errors.ts";
import { metricsPage } from "./metrics.ts";
import { routesPage } from "./routes.ts";
import { waitCausesPage } from "./wait-causes.ts";

export const PAGES: Readonly<Record<string, () => string | Promise<string>>> = {
  "configuration.md": configurationPage,
  "errors.md": errorsPage,
  "metrics.md": metricsPage,
  "cli.md": commandsPage,
  "http.md": routesPage,
  "wait-causes.md": waitCausesPage,
  "decision-reasons.md": decisionReasonsPage,
};
