// A new API key: 256 bits of chance, so that its plain SHA-256 may stand in a file.

import { createHash, randomBytes } from "node:crypto";

/** `sir_` and 43 letters, digits, hyphens and underscores. */
export function newApiKey(): string {
  return `sir_${randomBytes(32).toString("base64url")}`;
}

/** As the configuration has it. */
export function apiKeyHash(key: string): string {
  return createHash("sha256").update(key).digest("hex");
}
