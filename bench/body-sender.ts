// Sends large bodies to a router, one a second, from a process of its own: a JSON of 20 MB or a form with a file of
// 25 MB. Each message names what to send and for how long, and is answered with how long each took.

import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { SLOW_MODEL } from "./slow-model.ts";

export interface Order {
  readonly origin: string;
  readonly kind: "json" | "multipart";
  readonly seconds: number;
}
export interface Delivered {
  readonly tookMs: readonly number[];
}

const JSON_BYTES = 20_000_000;
const FILE_BYTES = 25_000_000;
const agent = new Agent({ keepAlive: true });

/** Half an image in base64, half long chat messages with escapes. */
function jsonBody(): Buffer {
  const image = {
    type: "image_url",
    image_url: { url: `data:image/png;base64,${"iVBORw0KGgo".repeat(JSON_BYTES / 22)}` },
  };
  const turn = { role: "user", content: 'The "quick" brown fox\njumps over the lazy dog. '.repeat(40) };
  const turns = Array.from({ length: Math.floor(JSON_BYTES / 2 / JSON.stringify(turn).length) }, () => turn);
  return Buffer.from(JSON.stringify({ model: SLOW_MODEL, messages: [{ role: "user", content: [image] }, ...turns] }));
}

function formBody(): Buffer {
  const head = `--b0undary\r\nContent-Disposition: form-data; name="model"\r\n\r\n${SLOW_MODEL}\r\n`;
  const file = '--b0undary\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n';
  const sound = Buffer.alloc(FILE_BYTES);
  for (let at = 0, state = 1; at < FILE_BYTES; at++) {
    state = (state * 1_103_515_245 + 12_345) & 0x7fffffff;
    sound[at] = state >> 16;
  }
  return Buffer.concat([Buffer.from(head + file), sound, Buffer.from("\r\n--b0undary--\r\n")]);
}

const KINDS = {
  json: { path: "/v1/chat/completions", type: "application/json", body: jsonBody() },
  multipart: { path: "/v1/audio/transcriptions", type: "multipart/form-data; boundary=b0undary", body: formBody() },
} as const;

async function send({ origin, kind }: Order): Promise<number> {
  const { path, type, body } = KINDS[kind];
  const fromMs = performance.now();
  const headers = { "content-type": type, "content-length": body.length, prefer: "respond-async" };
  const outgoing = request(`${origin}${path}`, { method: "POST", headers, agent });
  outgoing.end(body);
  const [answer] = (await once(outgoing, "response")) as [IncomingMessage];
  answer.resume();
  await once(answer, "end");
  if (answer.statusCode !== 202) throw new Error(`${path} was answered with ${answer.statusCode}`);
  return performance.now() - fromMs;
}

async function obey(order: Order): Promise<Delivered> {
  const sent: Promise<number>[] = [];
  for (let n = 0; n < order.seconds; n++) {
    sent.push(send(order));
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
  return { tookMs: await Promise.all(sent) };
}

process.on("message", (order: Order) => void obey(order).then((delivered) => process.send?.(delivered)));
process.once("disconnect", () => process.exit(0));
process.send?.({ ready: true });
