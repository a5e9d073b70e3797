// One job: why it took as long as it did.

import type { Route } from "../route.ts";

export function JobPage({ id }: { readonly id: string; readonly route: Route }) {
  return <h1>{id}</h1>;
}
