// What all client programs in JavaScript have in common: they read one command a line, run its scene, and print one line
// with what came of it. Scenes run side by side.

import { createInterface } from "node:readline";

/** @param scenes by name; each takes a command and a signal, and returns what the test should see */
export function talk(scenes) {
  const aborts = new Map();
  const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);
  createInterface({ input: process.stdin }).on("line", async (line) => {
    const command = JSON.parse(line);
    if (command.abort !== undefined) return aborts.get(command.abort).abort();
    const abort = new AbortController();
    aborts.set(command.id, abort);
    try {
      const scene = scenes[command.scene];
      if (scene === undefined) throw new Error(`this client has no scene ${command.scene}`);
      say({ id: command.id, value: (await scene(command, abort.signal)) ?? null });
    } catch (error) {
      say({ id: command.id, error: described(error) });
    }
  });
  say({ ready: true });
}

function described(error) {
  const { message, status, statusCode, code } = error;
  // Some wrap what the HTTP client threw; what a caller catches is the outer one.
  return {
    kind: error.constructor.name,
    name: error.name,
    status: status ?? statusCode ?? null,
    code: code ?? null,
    message,
  };
}

export const KEY = "sk-conformance";

export const WEATHER = {
  name: "weather",
  description: "The weather in a city.",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};

export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
