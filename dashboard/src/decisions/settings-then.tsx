// The settings that were in force at a decision, and the way to try others on that traffic.

import type { DecisionWire } from "../../../src/client/wire.ts";
import { withQuery } from "../api.ts";
import { useLoaded } from "../parts/loaded.ts";
import { href } from "../route.ts";
import { valueText } from "../what-if/names.ts";

interface SetupList {
  readonly data: readonly { readonly setup: { readonly effective?: Readonly<Record<string, unknown>> } }[];
}

const HOUR_MS = 3_600_000;

export function SettingsThen({ decision }: { readonly decision: DecisionWire }) {
  const atMs = Math.floor(decision.at * 1000);
  // Known to operators only; without them the line is left out.
  const { data } = useLoaded<SetupList>(withQuery("admin/history/setups", { from_ms: atMs, to_ms: atMs + 1 }));
  const { policy: _, ...settings } = data?.data.at(-1)?.setup.effective ?? {};
  const words = Object.entries(settings).map(
    ([key, value]) => `${key} ${valueText(value, key.endsWith("Seconds") ? "s" : "")}`,
  );
  const range = { from: String(atMs - HOUR_MS), to: String(atMs + HOUR_MS) };
  return (
    <p class="note settings-then">
      {words.length > 0 && `Settings at the time: ${words.join("; ")}. `}
      <a href={href(["what-if"], range)}>Try others on this traffic</a>
    </p>
  );
}
