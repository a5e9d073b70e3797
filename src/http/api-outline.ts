// The OpenAPI document, flattened to what people read: operations by tag, their parameters, and shapes as rows of keys.

/** As much of OpenAPI 3.1 as the document uses. */
export interface ApiDocument {
  readonly info: { readonly title: string; readonly version: string };
  readonly paths?: Readonly<Record<string, Readonly<Record<string, ApiOperation>>>>;
  readonly components?: { readonly schemas?: Readonly<Record<string, ApiSchema>> };
}

interface ApiOperation {
  readonly summary?: string;
  readonly tags?: readonly string[];
  readonly parameters?: readonly ApiParameter[];
  readonly requestBody?: { readonly content?: ApiContent };
  readonly responses?: Readonly<Record<string, { readonly description?: string; readonly content?: ApiContent }>>;
}

interface ApiParameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema?: ApiSchema;
}

type ApiContent = Readonly<Record<string, { readonly schema?: ApiSchema }>>;

export interface ApiSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, ApiSchema>>;
  readonly required?: readonly string[];
  readonly items?: ApiSchema;
  readonly additionalProperties?: ApiSchema | boolean;
  readonly anyOf?: readonly ApiSchema[];
  readonly oneOf?: readonly ApiSchema[];
  readonly allOf?: readonly ApiSchema[];
}

export interface Operation {
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly parameters: readonly {
    readonly name: string;
    readonly where: string;
    readonly type: string;
    readonly text: string;
  }[];
  /** Names of shapes or types, by media type. */
  readonly takes: readonly string[];
  readonly answers: readonly { readonly status: string; readonly text: string; readonly shape: string }[];
}

export interface Shape {
  readonly name: string;
  readonly keys: readonly { readonly name: string; readonly type: string; readonly text: string }[];
}

export interface Outline {
  readonly tags: readonly { readonly tag: string; readonly operations: readonly Operation[] }[];
  readonly shapes: readonly Shape[];
}

const METHODS = ["get", "post", "delete"];

export function outlineOf(document: ApiDocument): Outline {
  const tags = new Map<string, Operation[]>();
  for (const [path, verbs] of Object.entries(document.paths ?? {})) {
    for (const method of METHODS) {
      const operation = verbs[method];
      if (operation === undefined) continue;
      const tag = operation.tags?.[0] ?? "other";
      tags.set(tag, [...(tags.get(tag) ?? []), operationOf(method, path, operation)]);
    }
  }
  const shapes = Object.entries(document.components?.schemas ?? {}).map(([name, schema]) => shapeOf(name, schema));
  return {
    tags: [...tags].map(([tag, operations]) => ({ tag, operations })),
    shapes: shapes.filter(({ keys }) => keys.length > 0).sort((a, b) => (a.name < b.name ? -1 : 1)),
  };
}

function operationOf(method: string, path: string, operation: ApiOperation): Operation {
  return {
    method: method.toUpperCase(),
    path,
    summary: operation.summary ?? "",
    parameters: (operation.parameters ?? []).map((each) => ({
      name: each.name,
      where: each.in,
      type: typeOf(each.schema ?? {}),
      text: each.description ?? each.schema?.description ?? "",
    })),
    takes: contentOf(operation.requestBody?.content),
    answers: Object.entries(operation.responses ?? {})
      .filter(([status]) => status !== "default")
      .map(([status, { description, content }]) => ({
        status,
        text: description ?? "",
        shape: contentOf(content).join(" or "),
      })),
  };
}

function contentOf(content: ApiContent | undefined): string[] {
  return Object.entries(content ?? {}).map(([media, { schema }]) => {
    const type = typeOf(schema ?? {});
    return type === "anything" ? media : type;
  });
}

function shapeOf(name: string, schema: ApiSchema): Shape {
  const keys = Object.entries(schema.properties ?? {}).map(([key, each]) => ({
    name: schema.required?.includes(key) === false ? `${key}?` : key,
    type: typeOf(each),
    text: each.description ?? "",
  }));
  return { name, keys };
}

/** In few words: `string`, `list of Job`, `number or null`, `"a" | "b"`. */
export function typeOf(schema: ApiSchema): string {
  if (schema.$ref !== undefined) return schema.$ref.slice(schema.$ref.lastIndexOf("/") + 1);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((each) => JSON.stringify(each)).join(" or ");
  const choices = schema.anyOf ?? schema.oneOf ?? schema.allOf;
  if (choices !== undefined) return [...new Set(choices.map(typeOf))].join(" or ");
  if (Array.isArray(schema.type)) {
    return schema.type.map((type: string) => typeOf({ ...schema, type })).join(" or ");
  }
  if (schema.type === "array") return `list of ${typeOf(schema.items ?? {})}`;
  if (schema.type === "object" && typeof schema.additionalProperties === "object" && schema.properties === undefined) {
    return `record of ${typeOf(schema.additionalProperties)}`;
  }
  if (schema.type === "object") {
    const keys = Object.keys(schema.properties ?? {});
    return keys.length === 0 ? "object" : `{ ${keys.join(", ")} }`;
  }
  return typeof schema.type === "string" ? schema.type : "anything";
}
