// The pictures of docs/explanation/scheduler.md, from the rows of the suite:
//
//   npx sir simulate suite --json > rows.json && npx tsx bench/suite-charts.ts rows.json docs/explanation/scheduler

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

interface Row {
  readonly workload: string;
  readonly policy: string;
  readonly weightedMeanWaitSeconds: number;
  readonly loadingShare: number;
}

const [file = "rows.json", folder = "docs/explanation/scheduler"] = process.argv.slice(2);
const rows = JSON.parse(readFileSync(file, "utf8")) as Row[];
const policies = [...new Set(rows.map(({ policy }) => policy))];
const workloads = [...new Set(rows.map(({ workload }) => workload))].filter(
  (each) => rows.filter(({ workload }) => workload === each).length > 1,
);
const COLOURS = ["#1f618d", "#b03a2e", "#1e8449", "#b7950b", "#7d3c98", "#424949", "#d35400", "#16a085", "#7f8c8d"];
const colourOf = (policy: string): string => COLOURS[policies.indexOf(policy) % COLOURS.length] ?? "#000";
const text = (x: number, y: number, words: string, more = ""): string =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${more}>${words}</text>`;
const drawing = (title: string, width: number, height: number, parts: readonly string[]): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="11"><title>${title}</title><rect width="100%" height="100%" fill="white"/>\n${parts.join("\n")}\n</svg>\n`;

const seconds = (value: number): string => (value < 100 ? value.toFixed(1) : Math.round(value).toLocaleString("en"));

/** One panel a workload, one bar a policy: how many times the best policy's weighted mean wait, on a logarithmic axis. */
function waits(): string {
  const [columns, width, bar] = [2, 470, 15];
  const panel = 46 + policies.length * bar;
  const parts = workloads.flatMap((workload, index) => {
    const [x, y] = [10 + (index % columns) * width, 10 + Math.floor(index / columns) * panel];
    const own = rows.filter((row) => row.workload === workload);
    const least = Math.max(0.1, Math.min(...own.map((row) => row.weightedMeanWaitSeconds)));
    const bars = own.map((row, i) => {
      const times = Math.max(1, row.weightedMeanWaitSeconds / least);
      const length = Math.min(1, Math.log10(times) / 3) * 220 + 3;
      const top = y + 24 + i * bar;
      const said = `${seconds(row.weightedMeanWaitSeconds)} s, x${times.toFixed(times < 10 ? 2 : 0)}`;
      return [
        text(x, top + 9, row.policy),
        `<rect x="${x + 130}" y="${top}" width="${length.toFixed(1)}" height="${bar - 4}" fill="${colourOf(row.policy)}"/>`,
        text(x + 138 + length, top + 9, said, 'fill="#333"'),
      ].join("");
    });
    return [text(x, y + 14, workload, 'font-weight="bold"'), ...bars];
  });
  const height = 20 + Math.ceil(workloads.length / columns) * panel;
  return drawing("Weighted mean wait of every policy on every workload", columns * width + 20, height, parts);
}

/** Each policy on each workload: the share of time that went into loading against the wait; both cannot be had at once. */
function tradeOff(): string {
  const [width, height, left, bottom] = [940, 520, 70, 480];
  const x = (share: number): number => left + share * (width - left - 150);
  const y = (wait: number): number => bottom - (Math.log10(Math.max(1, wait)) / 5) * (bottom - 20);
  const points = rows
    .filter(({ workload }) => workloads.includes(workload))
    .map(
      (row) =>
        `<circle cx="${x(row.loadingShare).toFixed(1)}" cy="${y(row.weightedMeanWaitSeconds).toFixed(1)}" r="4" fill="${colourOf(row.policy)}" fill-opacity="0.75"><title>${row.policy} on ${row.workload}: ${row.weightedMeanWaitSeconds.toFixed(1)} s, ${(row.loadingShare * 100).toFixed(0)} %</title></circle>`,
    );
  const axes = [
    `<path d="M${left} 20V${bottom}H${x(1)}" fill="none" stroke="#999"/>`,
    ...[0, 0.25, 0.5, 0.75, 1].map((share) => text(x(share) - 8, bottom + 16, `${share * 100} %`)),
    ...[1, 10, 100, 1_000, 10_000, 100_000].map((wait) => text(2, y(wait) + 4, `${seconds(wait)} s`)),
    text(x(0.35), bottom + 32, "share of the time spent loading and unloading"),
    ...policies.map((policy, i) =>
      text(width - 130, 40 + i * 16, policy, `fill="${colourOf(policy)}" font-weight="bold"`),
    ),
  ];
  return drawing("Share of time spent loading against weighted mean wait", width, height, [...axes, ...points]);
}

mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, "waits.svg"), waits());
writeFileSync(join(folder, "trade-off.svg"), tradeOff());
console.log(`wrote ${folder}/waits.svg and ${folder}/trade-off.svg`);
