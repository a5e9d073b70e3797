import { expect, it } from "vitest";
import { checkWebhooks } from "../../src/cli/doctor-webhooks.ts";
import type { ResolvedConfig } from "../../src/config/resolved.ts";

const hook = (url: string, allowPrivate = false) => ({
  ...{ id: "hook_1", url, label: new URL(url).host, secrets: ["whsec_hidden"], events: ["*"], allowPrivate },
});

it("doctor says of each webhook where it leads, or why nothing can be sent there, and no secret", async () => {
  const webhooks = [hook("https://a.example/?k=hidden"), hook("https://b.example/"), hook("https://gone.example/")];
  const addresses: Record<string, string> = { "a.example": "8.8.8.8", "b.example": "10.0.0.1" };

  const checks = await checkWebhooks({ webhooks } as unknown as ResolvedConfig, async (host) => {
    const address = addresses[host];
    if (address === undefined) throw Object.assign(new Error("no"), { code: "ENOTFOUND" });
    return [{ address, family: 4 }];
  });

  expect(checks.map(({ id, level }) => [id, level])).toEqual([
    ["webhook a.example", "ok"],
    ["webhook b.example", "error"],
    ["webhook gone.example", "error"],
  ]);
  expect(checks[1]?.mend).toContain("allowPrivate");
  expect(checks[2]?.text).toContain("ENOTFOUND");
  expect(JSON.stringify(checks)).not.toContain("hidden");
});
