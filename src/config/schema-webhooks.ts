// Webhooks: where events are sent, signed as Standard Webhooks has it.

import { z } from "zod";
import { EVENT_GROUPS, EVENT_TYPES, SECRET_PREFIX, secretBytes } from "../webhooks/endpoint.ts";

const secret = z
  .string()
  .refine((text) => secretBytes(text) !== null, `must be ${SECRET_PREFIX} and the base64 of 24 to 64 random bytes`);

const webhookSection = z
  .strictObject({
    url: z
      .url({ protocol: /^https?$/ })
      .refine((text) => !/^[a-z]+:\/\/[^/]*@/i.test(text), "must not hold a name or a password")
      .describe("Where events are POSTed; https, unless allowPrivate is set."),
    secret: z
      .union([secret, z.array(secret).min(1).max(4)])
      .describe("whsec_ and the base64 of 24 to 64 random bytes; several while receivers change from one to the next."),
    events: z
      .array(z.enum([...EVENT_TYPES, ...EVENT_GROUPS]))
      .min(1)
      .describe("Which events: names, batch.* and the like, or *."),
    allowPrivate: z
      .boolean()
      .default(false)
      .describe("Allows plain http and private, loopback and link-local addresses."),
  })
  .describe("One endpoint.");

export const webhooksSection = z
  .array(webhookSection)
  .max(100)
  .prefault([])
  .describe("Endpoints that are told when responses, batches and jobs end.");
