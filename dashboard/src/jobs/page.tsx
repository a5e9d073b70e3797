// The page "Jobs".

import type { Route } from "../route.ts";

export function JobsPage(_: { readonly route: Route }) {
  return <h1>Jobs</h1>;
}
