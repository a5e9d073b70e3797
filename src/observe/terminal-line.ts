// A line of the log for somebody who sits before it: the time, what it is about, what happened. Machines get the JSON.

/** Named in front of the text, in this order. */
const SUBJECTS = ["device", "model", "job", "batch", "endpoint"] as const;
/** Worth their room behind it. */
const DETAILS = ["reason", "detail", "error_code", "wait_ms", "run_ms", "took_ms"] as const;

/**
 * @param json One line as pino writes it.
 * @returns Without a line end; what cannot be read is returned as it is. Times are local.
 */
export function terminalLine(json: string): string {
  const fields = read(json);
  if (fields === null) return json.trimEnd();
  const at = new Date(Number(fields["time"])).toLocaleTimeString("en-GB");
  const level = String(fields["level"]);
  const mark = level === "info" || level === "debug" ? "" : `${level}: `;
  // A decision is a sentence that names everything itself.
  if (fields["event"] === "decision") {
    return `${at} ${mark}${String(fields["device"])} ${String(fields["kind"])}: ${String(fields["msg"])}`;
  }
  const subjects = SUBJECTS.map((key) => fields[key]).filter((value) => typeof value === "string");
  const details = DETAILS.flatMap((key) => (fields[key] == null ? [] : [detailText(key, fields[key])]));
  const text = [...subjects, String(fields["msg"] ?? fields["event"] ?? "")].join(" ");
  return `${at} ${mark}${text}${details.length === 0 ? "" : ` (${details.join(", ")})`}`;
}

function detailText(key: string, value: unknown): string {
  if (!key.endsWith("_ms")) return String(value);
  const seconds = (Number(value) / 1000).toFixed(1);
  return `${key === "took_ms" ? "took" : key === "wait_ms" ? "waited" : "ran"} ${seconds} s`;
}

function read(json: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
