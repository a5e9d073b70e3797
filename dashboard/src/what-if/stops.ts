// Where a slider stops: few values that differ by enough to matter, with what ran and what is set among them. Pure.

const SECONDS = [
  1, 2, 5, 10, 15, 20, 30, 45, 60, 90, 120, 180, 300, 450, 600, 900, 1200, 1800, 2700, 3600, 5400, 7200, 14_400, 43_200,
];
const FACTORS = [0, 0.1, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10];

interface Bounds {
  readonly least: number;
  /** `least` itself is not allowed. */
  readonly above: boolean;
  readonly most: number;
}

/** @param values What must be among them. @returns ascending, each once, within the bounds. */
export function stopsOf(unit: string, bounds: Bounds, values: readonly number[]): number[] {
  const base = values.find((value) => value > 0) ?? 1;
  const around = unit === "s" ? SECONDS : FACTORS.map((factor) => rounded(base * factor));
  const all = [...around, ...values].filter(
    (value) => value <= bounds.most && (bounds.above ? value > bounds.least : value >= bounds.least),
  );
  return [...new Set(all)].sort((a, b) => a - b);
}

const rounded = (value: number): number => Number(value.toPrecision(3));

interface NumberShape {
  readonly bounds: Bounds;
  readonly nullable: boolean;
}

interface JsonShape {
  readonly type?: string;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly const?: unknown;
  readonly anyOf?: readonly JsonShape[];
  readonly properties?: Readonly<Record<string, JsonShape>>;
}

export type Shape =
  | ({ readonly kind: "number" } & NumberShape)
  | { readonly kind: "switch" }
  | { readonly kind: "choice"; readonly values: readonly unknown[] }
  | { readonly kind: "bands"; readonly of: NumberShape };

/** What a JSON Schema of a setting asks for; null: nothing that a form could offer. */
export function shapeOf(schema: Readonly<Record<string, unknown>>): Shape | null {
  const given = schema as JsonShape;
  if (given.type === "boolean") return { kind: "switch" };
  const [first] = Object.values(given.properties ?? {});
  if (first !== undefined) return first.type === "number" ? { kind: "bands", of: numberOf(first, false) } : null;
  const options = given.anyOf ?? [given];
  const number = options.find(({ type }) => type === "number");
  if (number !== undefined)
    return {
      kind: "number",
      ...numberOf(
        number,
        options.some(({ type }) => type === "null"),
      ),
    };
  const values = options.flatMap((option) => ("const" in option ? [option.const] : []));
  return values.length > 0 ? { kind: "choice", values } : null;
}

function numberOf({ minimum, exclusiveMinimum, maximum }: JsonShape, nullable: boolean): NumberShape {
  const above = exclusiveMinimum !== undefined;
  const bounds = { least: exclusiveMinimum ?? minimum ?? 0, above, most: maximum ?? Number.MAX_SAFE_INTEGER };
  return { bounds, nullable };
}
