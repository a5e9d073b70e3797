// The Vercel AI SDK, with the provider that is named on the command line: `node ai.mjs openai-compatible`.

import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { embed, generateText, jsonSchema, streamText, tool } from "ai";
import { sirProvider } from "sir-router/client";
import { KEY, talk, WEATHER } from "./talk.mjs";

const compatible = process.argv[2] === "openai-compatible";

function providerFor({ baseURL, line }) {
  const settings = line ? sirProvider({ baseURL, apiKey: KEY }) : { baseURL, apiKey: KEY };
  return compatible ? createOpenAICompatible({ name: "sir", ...settings }) : createOpenAI(settings);
}

/** Of the two that the OpenAI provider has, the one that every engine has. */
const chatOf = (command) => {
  const provider = providerFor(command);
  return compatible ? provider.chatModel(command.model) : provider.chat(command.model);
};

const asked = (command) => ({
  model: chatOf(command),
  prompt: command.prompt,
  ...(command.line ? { maxRetries: 0 } : {}),
  ...command.options,
});

talk({
  plain: async (command) => (await generateText(asked(command))).text,

  stream: async (command) => {
    let failure;
    const { textStream } = streamText({
      ...asked(command),
      onError: ({ error }) => {
        failure = error;
      },
    });
    let text = "";
    for await (const piece of textStream) text += piece;
    if (failure !== undefined) throw failure;
    return text;
  },

  tools: async (command) => {
    const weather = tool({ description: WEATHER.description, inputSchema: jsonSchema(WEATHER.parameters) });
    const { toolCalls } = await generateText({ ...asked(command), tools: { weather } });
    return { name: toolCalls[0].toolName, ...toolCalls[0].input };
  },

  embeddings: async (command) => {
    const provider = providerFor(command);
    const model = (provider.embeddingModel ?? provider.textEmbeddingModel).call(provider, command.model);
    return (await embed({ model, value: command.prompt })).embedding;
  },

  abort: async (command, signal) => (await generateText({ ...asked(command), abortSignal: signal })).text,
});
