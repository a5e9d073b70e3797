// Which of the two readable kinds a body is, from its headers.

import { SirError } from "../domain/errors.ts";
import { parseParameters } from "./header-params.ts";

/** RFC 2046 §5.1.1. */
const BOUNDARY_CHARACTERS = 70;
const BOUNDARY = /^[\x20-\x7e]*[\x21-\x7e]$/;

export type Media =
  | { readonly kind: "json"; readonly contentType: string }
  | { readonly kind: "multipart"; readonly contentType: string; readonly boundary: string };

/**
 * Without a content type a body is taken for JSON.
 * @throws {SirError} unsupported_media_type, invalid_header
 */
export function readMedia(header: (name: string) => string | null): Media {
  const encoding = header("content-encoding")?.trim().toLowerCase() ?? "";
  if (encoding !== "" && encoding !== "identity") {
    throw new SirError(
      "unsupported_media_type",
      "Compressed bodies are not read; send the body without Content-Encoding.",
      {
        param: "content-encoding",
      },
    );
  }
  const contentType = header("content-type")?.trim() ?? "";
  if (contentType === "") return { kind: "json", contentType: "application/json" };
  const parsed = parseParameters(contentType);
  const value = parsed?.value ?? "";
  if (value === "application/json" || (value.startsWith("application/") && value.endsWith("+json"))) {
    return { kind: "json", contentType };
  }
  if (value === "multipart/form-data") {
    return { kind: "multipart", contentType, boundary: boundaryOf(parsed?.params.get("boundary")) };
  }
  throw new SirError(
    "unsupported_media_type",
    `Content-Type must be application/json or multipart/form-data, got ${shown(value)}.`,
    { param: "content-type" },
  );
}

function boundaryOf(boundary: string | undefined): string {
  if (boundary !== undefined && boundary.length <= BOUNDARY_CHARACTERS && BOUNDARY.test(boundary)) return boundary;
  throw new SirError(
    "invalid_header",
    `Content-Type multipart/form-data needs a boundary of 1 to ${BOUNDARY_CHARACTERS} printable characters.`,
    { param: "content-type" },
  );
}

function shown(value: string): string {
  return /^[\w.+/-]{1,100}$/.test(value) ? value : "something unreadable";
}
