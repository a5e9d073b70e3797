// Bytes and headers through remote in front of a real server: nothing added, nothing lost, nothing hurried.

import { createHash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { describe, expect, it } from "vitest";
import { callOf, chatBody, Taken } from "./samples.ts";
import { bodyOf, httpUpstream, rawUpstream, remoteAt, send } from "./upstream.ts";

const CHAT = "/v1/chat/completions";

describe("a request through remote", () => {
  it("reaches the engine byte for byte, with its exact length and only the headers of the call", async () => {
    const odd = '{"model":"m","top_k":1.0,"seed":9007199254740993,"a":1e400,"a":2,"s":"\\ud83d\\u00e9" }\n';
    let seen: { headers: IncomingHttpHeaders; url: string; body: string } | null = null;
    const origin = await httpUpstream(async (request, response) => {
      const body = (await bodyOf(request)).toString("utf8");
      seen = { headers: request.headers, url: request.url ?? "", body };
      response.setHeader("content-type", "application/json").end('{"id":"x"}');
    });
    const call = callOf(CHAT, odd, { headers: { accept: "application/json", "x-client-request-id": "r1" } });

    const { outcome } = await send(remoteAt(origin, { apiKey: "key", headers: { "X-Team": "a" } }), call);

    expect(outcome).toEqual({ kind: "succeeded" });
    expect(seen).toMatchObject({ url: CHAT, body: odd });
    const headers = (seen as unknown as { headers: IncomingHttpHeaders }).headers;
    expect(headers).toEqual({
      host: origin.slice(7),
      connection: "keep-alive",
      accept: "application/json",
      "accept-encoding": "identity",
      authorization: "Bearer key",
      "content-length": String(Buffer.byteLength(odd)),
      "content-type": "application/json",
      "x-client-request-id": "r1",
      "x-team": "a",
    });
  });

  it.each([
    ["/v1/chat/completions", "/v1/chat/completions"],
    ["/v1/score", "/v1/score"],
    ["/tokenize", "/tokenize"],
  ])("goes to the endpoint it names: %s", async (endpoint, path) => {
    let url = "";
    const origin = await httpUpstream((request, response) => {
      url = request.url ?? "";
      response.end();
    });

    await send(remoteAt(`${origin}/gateway`), callOf(endpoint, {}));

    expect(url).toBe(`/gateway${path}`);
  });

  it("carries 20 MB both ways unchanged, no faster than the caller takes them", async () => {
    const big = Buffer.alloc(20 * 1024 * 1024, "0123456789abcdef");
    const origin = await httpUpstream((request, response) => {
      response.setHeader("content-type", "application/octet-stream");
      request.pipe(response);
    });
    const hash = createHash("sha256");
    let open = 0;
    let most = 0;
    let bytes = 0;
    class Slow extends Taken {
      override async chunk(chunk: Uint8Array): Promise<void> {
        most = Math.max(most, ++open);
        hash.update(chunk);
        bytes += chunk.byteLength;
        await new Promise((resolve) => setImmediate(resolve));
        open--;
      }
    }

    const { outcome } = await send(remoteAt(origin), callOf("/v1/embeddings", big), undefined, new Slow());

    expect(outcome).toEqual({ kind: "succeeded" });
    expect(bytes).toBe(big.byteLength);
    expect(hash.digest("hex")).toBe(createHash("sha256").update(big).digest("hex"));
    expect(most).toBe(1);
  });

  it("stops reading from the engine while the caller takes nothing", async () => {
    let written = 0;
    let drained = false;
    const origin = await httpUpstream((_request, response) => {
      response.setHeader("content-type", "application/octet-stream");
      const block = Buffer.alloc(1024 * 1024);
      const more = (): void => {
        while (written < 64 && response.write(block)) written++;
        if (written < 64) response.once("drain", more);
        else drained = true;
      };
      more();
    });
    const stop = new AbortController();
    let first: () => void = () => {};
    const began = new Promise<void>((resolve) => {
      first = resolve;
    });
    class Stuck extends Taken {
      override chunk(): Promise<void> {
        first();
        return new Promise(() => {});
      }
    }

    const sent = send(remoteAt(origin), callOf(CHAT, chatBody()), stop.signal, new Stuck());
    await began;
    for (let i = 0; i < 200; i++) await new Promise((resolve) => setImmediate(resolve));
    const before = drained;
    stop.abort();

    expect((await sent).outcome).toEqual({ kind: "aborted" });
    expect(before).toBe(false);
  });

  it("passes a stream through in order, also where a token is cut inside a character", async () => {
    const text = 'data: {"choices":[{"delta":{"content":"dög 日本"}}]}\n\ndata: [DONE]\n\n';
    const origin = await httpUpstream((_request, response) => {
      response.setHeader("content-type", "text/event-stream");
      const bytes = Buffer.from(text);
      let i = 0;
      const next = (): void => {
        if (i === bytes.length) return void response.end();
        response.write(bytes.subarray(i, ++i), () => setImmediate(next));
      };
      next();
    });

    const { outcome, sink } = await send(remoteAt(origin), callOf(CHAT, chatBody({ stream: true })));

    expect(outcome).toEqual({ kind: "succeeded" });
    expect(sink.text).toBe(text);
    expect(sink.heads).toEqual([{ status: 200, headers: { "content-type": "text/event-stream" } }]);
  });

  it("passes a refusal on byte for byte, with its status and its type", async () => {
    const body = '{"error":{"message":"top_k must be > 0", "code":400 }}';
    const origin = await httpUpstream((_request, response) => {
      response
        .writeHead(422, { "content-type": "application/json; x=y", "x-secret": "no", "set-cookie": "a=b" })
        .end(body);
    });

    const { outcome, sink } = await send(remoteAt(origin), callOf(CHAT, chatBody()));

    expect(outcome).toEqual({ kind: "refused" });
    expect(sink.heads).toEqual([{ status: 422, headers: { "content-type": "application/json; x=y" } }]);
    expect(sink.text).toBe(body);
  });

  it("keeps the name of a file that the engine sends", async () => {
    const origin = await httpUpstream((_request, response) => {
      response.setHeader("content-type", "audio/mpeg").setHeader("content-disposition", 'attachment; filename="a.mp3"');
      response.end(Buffer.from([0xff, 0xfb, 0]));
    });

    const { sink } = await send(remoteAt(origin), callOf("/v1/audio/speech", {}));

    expect(sink.heads[0]?.headers).toEqual({
      "content-type": "audio/mpeg",
      "content-disposition": 'attachment; filename="a.mp3"',
    });
    expect([...sink.bytes]).toEqual([0xff, 0xfb, 0]);
  });

  it("takes informational answers for what they are", async () => {
    const origin = await rawUpstream((socket) => {
      socket.write("HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n");
      socket.end("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}");
    });

    const { outcome, sink } = await send(remoteAt(origin), callOf(CHAT, chatBody()));

    expect(outcome).toEqual({ kind: "succeeded" });
    expect(sink.heads).toHaveLength(1);
    expect(sink.text).toBe("{}");
  });
});
