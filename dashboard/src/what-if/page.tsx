// The page "What if".

import type { Route } from "../route.ts";

export function WhatIfPage(_: { readonly route: Route }) {
  return <h1>What if</h1>;
}
