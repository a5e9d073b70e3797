// Readers of the live stream in a process of their own, as cheap as they can be: sockets whose bytes are dropped, or, when
// they are to stall, left where they are. Told by messages: `{ open, stall }` opens so many, `{ close: true }` closes all.

import { connect, type Socket } from "node:net";

const [, , port = "0"] = process.argv;
const open = new Set<Socket>();
let bytes = 0;

function reader(port: number, stalls: boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.write("GET /v1/stream HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
    });
    open.add(socket);
    socket.once("error", reject);
    socket.once("close", () => open.delete(socket));
    socket.once("data", () => {
      if (stalls) socket.pause();
      resolve();
    });
    socket.on("data", (chunk) => {
      bytes += chunk.length;
    });
  });
}

interface Told {
  readonly port?: number;
  readonly open?: number;
  readonly stall?: boolean;
}

async function hear({ port: at = Number(port), open: count = 0, stall = false }: Told): Promise<void> {
  if (count === 0) for (const socket of open) socket.destroy();
  await Promise.all(Array.from({ length: count }, () => reader(at, stall)));
  const seen = bytes;
  bytes = 0;
  process.send?.({ open: open.size, bytes: seen });
}

process.on("message", (told: Told) => {
  hear(told).catch((error: unknown) => {
    throw error;
  });
});
process.once("disconnect", () => process.exit(0));
process.send?.({ ready: true });
