// The page on metrics: every metric of the router's own registry with its kind, labels and sentence.

import { Registry } from "prom-client";
import { createMetricSet } from "../../src/observe/metric-set.ts";
import { code, heading, table } from "./table.ts";

const INTRO = `\`GET /metrics\`, in Prometheus' text format. Labels are bounded: configured models and devices, bands, and closed lists of
words. Durations are seconds, sizes bytes. Beside these stand the metrics of the Node process (\`process_*\`, \`nodejs_*\`).`;

interface Described {
  readonly name: string;
  readonly help: string;
  readonly labelNames?: readonly string[];
}

export function metricsPage(): string {
  const registry = new Registry();
  createMetricSet(registry);
  const metrics = registry.getMetricsAsArray() as unknown as (Described & { readonly constructor: { name: string } })[];
  const rows = [...metrics]
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map((metric) => [
      code(metric.name),
      metric.constructor.name.toLowerCase(),
      (metric.labelNames ?? []).map(code).join(", "),
      metric.help,
    ]);
  return `${heading("Metrics", INTRO)}\n${table(["name", "kind", "labels", "meaning"], rows)}\n`;
}
