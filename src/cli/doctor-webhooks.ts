// Whether webhooks can be sent: the name is there, and its addresses are allowed. Nothing is posted.

import type { ResolvedConfig } from "../config/resolved.ts";
import { checkedAddress, type Resolve, resolveName } from "../webhooks/address.ts";
import { type Check, fault, ok } from "./check.ts";

export function checkWebhooks({ webhooks }: ResolvedConfig, resolve: Resolve = resolveName): Promise<Check[]> {
  return Promise.all(
    webhooks.map(async ({ url, label, allowPrivate, events }) => {
      const id = `webhook ${label}`;
      const checked = await checkedAddress(new URL(url), allowPrivate, resolve);
      if (checked.kind === "go") return ok(id, `leads to ${checked.to.address}; wants ${events.join(", ")}`);
      const mend =
        checked.kind === "refused"
          ? "Set allowPrivate for this endpoint if it is meant to be there."
          : "Correct its url, or the name's records.";
      return fault(id, `Nothing can be sent there: ${checked.detail}.`, mend);
    }),
  );
}
