// The page "Decisions".

import type { Route } from "../route.ts";

export function DecisionsPage(_: { readonly route: Route }) {
  return <h1>Decisions</h1>;
}
