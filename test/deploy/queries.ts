// What deploy/ asks of Prometheus: the expressions of the dashboard and of the rules, with the metrics and labels in them.

import { readFileSync } from "node:fs";
import { parse } from "yaml";

const deploy = new URL("../../deploy/", import.meta.url);

export const RULES = new URL("prometheus/rules.yml", deploy);
export const RULE_TESTS = new URL("prometheus/rules.test.yml", deploy);

export interface Query {
  readonly where: string;
  readonly expression: string;
}

interface Panel {
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string }[];
}

export interface Dashboard {
  readonly panels: readonly Panel[];
  readonly annotations: { readonly list: readonly { readonly name: string; readonly expr?: string }[] };
  readonly templating: { readonly list: readonly { readonly name: string; readonly definition?: string }[] };
}

export interface Rule {
  readonly alert?: string;
  readonly record?: string;
  readonly expr: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

export function dashboard(): Dashboard {
  return JSON.parse(readFileSync(new URL("grafana/sir.json", deploy), "utf8")) as Dashboard;
}

export function rules(): Rule[] {
  const file = parse(readFileSync(RULES, "utf8")) as {
    readonly groups: readonly { readonly rules: readonly Rule[] }[];
  };
  return file.groups.flatMap((group) => group.rules);
}

/** As Prometheus sees them: variables with the values they have when all is chosen. */
export function dashboardQueries(): Query[] {
  const { panels, annotations, templating } = dashboard();
  const found = [
    ...panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ where: title, expression: expr }))),
    ...annotations.list.flatMap(({ name, expr }) => (expr === undefined ? [] : [{ where: name, expression: expr }])),
    ...templating.list.flatMap(({ name, definition }) => {
      const series = /^label_values\((.*), (\w+)\)$/.exec(definition ?? "");
      return series === null ? [] : [{ where: `$${name}`, expression: `group by (${series[2]}) (${series[1]})` }];
    }),
  ];
  return found.map(({ where, expression }) => ({
    where,
    expression: expression.replaceAll("$__interval", "1m").replaceAll(/\$\w+/g, ".*"),
  }));
}

export function ruleQueries(): Query[] {
  return rules().map(({ alert, record, expr }) => ({ where: alert ?? record ?? "", expression: expr }));
}

/** Labels that Prometheus itself adds or that its functions want. */
const OWN_LABELS = ["instance", "job", "le"];

/** The metrics an expression reads, without the endings of a histogram's parts, each with the labels asked of it. */
export function metricsIn(expression: string): { readonly name: string; readonly labels: readonly string[] }[] {
  const parts = [...expression.matchAll(/\b(sir_\w+)(?:\{([^}]*)\})?/g)];
  return parts.map(([, name = "", matchers = ""]) => ({
    name: name.replace(/_(bucket|sum|count)$/, ""),
    labels: [...matchers.matchAll(/(\w+)\s*(?:=~|!=|!~|=)/g)].map(([, label = ""]) => label).filter(isOurs),
  }));
}

/** Labels that results are grouped or joined by. */
export function groupingIn(expression: string): string[] {
  const lists = [...expression.matchAll(/\b(?:by|on|group_left)\s*\(([^)]*)\)/g)];
  return lists.flatMap(([, list = ""]) => list.split(",").map((label) => label.trim())).filter(isOurs);
}

const isOurs = (label: string): boolean => label !== "" && !OWN_LABELS.includes(label);
