// OpenAI's own client, in the version that is named on the command line: `node openai.mjs openai6`.

import { sir } from "sir-router/client";
import { KEY, pause, talk, WEATHER } from "./talk.mjs";

const { default: OpenAI, toFile } = await import(process.argv[2]);

/** `line`: with the one line that makes it aware of SIR. */
function clientFor({ baseURL, line, options = {} }) {
  return line
    ? new OpenAI({ ...sir({ baseURL, apiKey: KEY }), ...options })
    : new OpenAI({ baseURL, apiKey: KEY, ...options });
}

const ask = (command, options) =>
  clientFor(command).chat.completions.create(
    { model: command.model, messages: [{ role: "user", content: command.prompt }] },
    options,
  );

talk({
  plain: async (command) => (await ask(command)).choices[0].message.content,

  stream: async (command) => {
    const stream = await clientFor(command).chat.completions.create({
      model: command.model,
      messages: [{ role: "user", content: command.prompt }],
      stream: true,
    });
    let text = "";
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? "";
    return text;
  },

  tools: async (command) => {
    const answer = await clientFor(command).chat.completions.create({
      model: command.model,
      messages: [{ role: "user", content: command.prompt }],
      tools: [{ type: "function", function: WEATHER }],
    });
    const call = answer.choices[0].message.tool_calls[0].function;
    return { name: call.name, ...JSON.parse(call.arguments) };
  },

  embeddings: async (command) => {
    const answer = await clientFor(command).embeddings.create({ model: command.model, input: command.prompt });
    return [...answer.data[0].embedding];
  },

  abort: async (command, signal) => (await ask(command, { signal })).id,

  background: async (command) => {
    const { responses } = clientFor(command);
    let response = await responses.create({ model: command.model, input: command.prompt, background: true });
    const first = response.status;
    while (["queued", "in_progress"].includes(response.status)) {
      await pause(200);
      response = await responses.retrieve(response.id);
    }
    // Version 4 has the short way only on what it created.
    const text = response.output_text ?? response.output[0].content[0].text;
    return { first, status: response.status, text, id: response.id };
  },

  "background cancel": async (command) => {
    const { responses } = clientFor(command);
    const { id } = await responses.create({ model: command.model, input: command.prompt, background: true });
    // The method came with version 5; before it the path did.
    const cancel = () => responses.cancel?.(id) ?? clientFor(command).post(`/responses/${id}/cancel`);
    const once = await cancel();
    const twice = await cancel();
    await (responses.delete ?? responses.del).call(responses, id);
    const gone = await responses.retrieve(id).catch((error) => error.status);
    return { once: once.status, twice: twice.status, gone };
  },

  "background stream": async (command) => {
    const { responses } = clientFor(command);
    const stream = await responses.create({
      model: command.model,
      input: command.prompt,
      background: true,
      stream: true,
    });
    let id = "";
    let text = "";
    const kinds = [];
    const numbers = [];
    for await (const event of stream) {
      kinds.push(event.type);
      numbers.push(event.sequence_number);
      if (event.type === "response.created") id = event.response.id;
      if (event.type === "response.output_text.delta") text += event.delta;
    }
    const rest = [];
    const again = await responses.retrieve(id, { stream: true, starting_after: 1 });
    for await (const event of again) rest.push(event.sequence_number);
    return { first: kinds[0], last: kinds.at(-1), text, numbers, rest };
  },

  webhook: async ({ baseURL, body, headers, secret }) => {
    const event = await clientFor({ baseURL }).webhooks.unwrap(body, headers, secret);
    return { type: event.type, id: event.data.id };
  },

  batch: async (command) => {
    const { files, batches } = clientFor(command);
    const file = await toFile(Buffer.from(command.lines), "lines.jsonl");
    const input = await files.create({ file, purpose: "batch" });
    let batch = await batches.create({
      input_file_id: input.id,
      endpoint: "/v1/chat/completions",
      completion_window: "24h",
    });
    while (["validating", "in_progress", "finalizing"].includes(batch.status)) {
      await pause(250);
      batch = await batches.retrieve(batch.id);
    }
    const content = async (id) => (id == null ? "" : (await files.content(id)).text());
    const listed = [];
    for await (const each of batches.list({ limit: 1 })) listed.push(each.id);
    return {
      status: batch.status,
      counts: batch.request_counts,
      output: await content(batch.output_file_id),
      errors: await content(batch.error_file_id),
      listed: listed.includes(batch.id),
    };
  },
});
