// What a request asks that cannot be done, by the name of its field.

export class Untranslatable extends Error {
  /** The field's path in the request, e.g. `tools[0].type`. */
  readonly param: string;

  constructor(param: string, why: string) {
    super(`"${param}" ${why}`);
    this.name = "Untranslatable";
    this.param = param;
  }
}

/** @throws {Untranslatable} */
export function refuse(param: string, why: string): never {
  throw new Untranslatable(param, why);
}
