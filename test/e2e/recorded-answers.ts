// Answers of an engine as bytes, with the oddities that a router which parses and prints again would lose: key order,
// numbers beyond doubles, escapes, spaces.

export const PLAIN =
  '{"object":"chat.completion","id":"chatcmpl-1","created":1790000000, "model":"m/served","system_fingerprint":null,' +
  '"choices":[{"finish_reason":"stop","index":0,"message":{"content":"Gr\\u00fc\\u00dfe \\ud83d\\ude00 \\/ ok","role":"assistant","refusal":null},"logprobs":null}],' +
  '"usage":{"total_tokens":12,"prompt_tokens":9.0,"completion_tokens":3},"x_big":9007199254740993,"x_tiny":1.0e-10}\n';

export const TOOL =
  '{"id":"chatcmpl-2","object":"chat.completion","created":1790000000,"model":"m","choices":[{"index":0,"message":' +
  '{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"weather",' +
  '"arguments":"{\\"city\\": \\"K\\u00f6ln\\"}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":5,"completion_tokens":7,"total_tokens":12}}';

export const EMBEDDINGS =
  '{"object":"list","data":[{"object":"embedding","index":0,"embedding":"AACAPwAAAEAAAEBA"}],"model":"m",' +
  '"usage":{"prompt_tokens":2,"total_tokens":2}}';

export const BAD_REQUEST =
  '{"error":{"message":"max_tokens is too large: 1e9","type":"BadRequestError","param":"max_tokens","code":400}}';

export const UNPROCESSABLE =
  '{"error": {"code": "bad_schema", "message": "schema has no type", "type": "invalid_request_error", "param": null}}';

function chunk(choice: string, over = ""): string {
  return `data: {"id":"chatcmpl-3","object":"chat.completion.chunk","created":1790000000,"model":"m","choices":[${choice}]${over}}\n\n`;
}

const delta = (text: string, finish = "null"): string =>
  chunk(`{"index":0,"delta":{"content":${text}},"finish_reason":${finish}}`);

export const STREAM = [
  chunk('{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}'),
  delta('"Gr\\u00fc"'),
  delta('"ße 😀"'),
  delta('""', '"stop"'),
  chunk("", ',"usage":{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12}'),
  "data: [DONE]\n\n",
];

const call = (rest: string): string =>
  chunk(`{"index":0,"delta":{"tool_calls":[{"index":0,${rest}}]},"finish_reason":null}`);

export const TOOL_STREAM = [
  chunk('{"index":0,"delta":{"role":"assistant","content":null},"finish_reason":null}'),
  call('"id":"call_1","type":"function","function":{"name":"weather","arguments":""}'),
  call('"function":{"arguments":"{\\"city\\": "}'),
  call('"function":{"arguments":"\\"Köln\\"}"}'),
  chunk('{"index":0,"delta":{},"finish_reason":"tool_calls"}'),
  "data: [DONE]\n\n",
];

/** Cut wherever it hurts: inside characters of several bytes, inside `data:`, between the two ends of a line. */
export function piecesOf(text: string, sizes: readonly number[]): Buffer[] {
  const bytes = Buffer.from(text);
  const pieces: Buffer[] = [];
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const size = sizes[i % sizes.length] ?? 1;
    pieces.push(bytes.subarray(at, at + size));
    at += size;
  }
  return pieces;
}
