// Who may call: keys by name, known by their hashes alone, so that the file is no secret.

import { z } from "zod";
import { KEY_NAME, SCOPES } from "../domain/caller-key.ts";

const keyName = z.string().regex(KEY_NAME, "must be 1 to 64 letters, digits, dots, hyphens, underscores or @");

const keySection = z
  .strictObject({
    sha256: z
      .string()
      .regex(/^[0-9a-fA-F]{64}$/, "must be the SHA-256 of the key, 64 hexadecimal digits; `sir keys new` prints it")
      .transform((text) => text.toLowerCase())
      .describe("SHA-256 of the key in hexadecimal, as `sir keys new` prints it; the key itself stands nowhere."),
    scopes: z
      .array(z.enum(SCOPES))
      .min(1)
      .default(["submit"])
      .describe(
        "submit: infer, and see its own jobs; observe: read everything but others' requests and answers; operate: act, and observe.",
      ),
  })
  .describe("One key; its name is the caller that owns what is made with it.");

export const keysSection = z
  .record(keyName, keySection)
  .default({})
  .describe("API keys by name; without any everybody who reaches the router is let in.");
