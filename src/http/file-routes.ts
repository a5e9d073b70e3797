// Files, under /v1/files.

import { z } from "@hono/zod-openapi";
import { PURPOSES } from "../batches/upload.ts";
import type { HttpWorld } from "./deps.ts";
import { deleteFile, listFiles, readContent, readFile, uploadFile } from "./files.ts";
import { json, opaque, type Route } from "./route.ts";
import { pageOf } from "./schemas.ts";

const unix = z.number().describe("Unix seconds");

export const FileSchema = z
  .object({
    id: z.string(),
    object: z.literal("file"),
    bytes: z.int(),
    created_at: unix,
    expires_at: unix.nullable(),
    filename: z.string(),
    purpose: z.string(),
    status: z.literal("processed"),
    status_details: z.null(),
  })
  .openapi("File");

const uploadForm = {
  description: "A form: streamed to disk, never into memory.",
  required: true,
  content: {
    "multipart/form-data": {
      schema: z
        .object({
          file: z.string().openapi({ format: "binary" }),
          purpose: z.enum(PURPOSES),
          "expires_after[anchor]": z.literal("created_at").optional(),
          "expires_after[seconds]": z.int().min(3_600).max(2_592_000).optional(),
        })
        .openapi("FileUpload"),
    },
  },
};

const filesQuery = z.object({
  purpose: z.string().optional(),
  limit: z.int().min(1).max(10_000).default(10_000).optional(),
  order: z.enum(["desc", "asc"]).optional(),
  after: z.string().optional().describe("The id of the file after which the page begins"),
});
const deleted = z
  .object({ id: z.string(), object: z.literal("file"), deleted: z.literal(true) })
  .openapi("FileDeleted");

export function fileRoutes(world: HttpWorld): Route[] {
  const { files } = world;
  if (files === undefined) return [];
  const tag = "files";
  const one = { 200: json(FileSchema, "The file") };
  return [
    {
      method: "post",
      path: "/v1/files",
      tag,
      summary: "Upload a file",
      body: uploadForm,
      answers: one,
      handle: (c) => uploadFile(c, world, files),
    },
    {
      method: "get",
      path: "/v1/files",
      tag,
      summary: "List files",
      query: filesQuery,
      answers: { 200: json(pageOf(FileSchema, "FileList"), "A page, newest first") },
      handle: (c) => listFiles(c, world),
    },
    {
      method: "get",
      path: "/v1/files/{id}",
      tag,
      summary: "Read a file's facts",
      answers: one,
      handle: (c) => readFile(c, world),
    },
    {
      method: "delete",
      path: "/v1/files/{id}",
      tag,
      summary: "Delete a file",
      answers: { 200: json(deleted, "It is gone") },
      handle: (c) => deleteFile(c, world),
    },
    {
      method: "get",
      path: "/v1/files/{id}/content",
      tag,
      summary: "Read a file's bytes",
      answers: { 200: opaque("The bytes") },
      handle: (c) => readContent(c, world, files),
    },
  ];
}
