// The little language of llama-swap's matrix: `&` together, `|` one or the other, brackets, `+name` for another set's
// expression. An expression comes out as the combinations it allows.

const TOKEN = /\s*([&|()]|\+?[A-Za-z0-9_.:/@-]+)/y;
const MOST_COMBINATIONS = 10_000;

export class MatrixError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "MatrixError";
  }
}

/**
 * @param name what a word stands for
 * @param sets the other expressions, for `+name`
 * @throws {MatrixError}
 */
export function combinations(
  expression: string,
  name: (word: string) => string,
  sets: ReadonlyMap<string, string>,
  open: readonly string[] = [],
): string[][] {
  const tokens = tokensOf(expression);
  let at = 0;
  const alternatives = (): string[][] => {
    const all = product();
    while (tokens[at] === "|") {
      at++;
      all.push(...product());
    }
    return bounded(all);
  };
  const product = (): string[][] => {
    let all = operand();
    while (tokens[at] === "&") {
      at++;
      const right = operand();
      all = bounded(all.flatMap((a) => right.map((b) => [...new Set([...a, ...b])])));
    }
    return all;
  };
  const operand = (): string[][] => {
    const token = tokens[at++];
    if (token === "(") {
      const inner = alternatives();
      if (tokens[at++] !== ")") throw new MatrixError(`a bracket is not closed in "${expression}"`);
      return inner;
    }
    if (token === undefined || /^[&|)]$/.test(token)) throw new MatrixError(`"${expression}" breaks off`);
    if (!token.startsWith("+")) return [[name(token)]];
    const ref = token.slice(1);
    const other = sets.get(ref);
    if (other === undefined) throw new MatrixError(`there is no set ${ref}`);
    if (open.includes(ref)) throw new MatrixError(`the set ${ref} holds itself`);
    return combinations(other, name, sets, [...open, ref]);
  };
  const found = alternatives();
  if (at < tokens.length) throw new MatrixError(`"${tokens[at]}" is out of place in "${expression}"`);
  return found;
}

function bounded(all: string[][]): string[][] {
  if (all.length > MOST_COMBINATIONS) throw new MatrixError(`more than ${MOST_COMBINATIONS} combinations`);
  return all;
}

function tokensOf(expression: string): string[] {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < expression.trimEnd().length) {
    const from = TOKEN.lastIndex;
    const found = TOKEN.exec(expression);
    if (found === null)
      throw new MatrixError(`"${expression.slice(from).trim().charAt(0)}" is not understood in "${expression}"`);
    tokens.push(found[1] ?? "");
  }
  return tokens;
}
