// LangChain's OpenAI package.

import { ChatOpenAI, OpenAIEmbeddings } from "@langchain/openai";
import { sirLangChain } from "sir-router/client";
import { KEY, talk, WEATHER } from "./talk.mjs";

const settings = ({ baseURL, model, line, options = {} }) => ({
  model,
  ...(line ? sirLangChain({ baseURL, apiKey: KEY }) : { apiKey: KEY, configuration: { baseURL } }),
  ...options,
});

const chat = (command) => new ChatOpenAI(settings(command));

talk({
  plain: async (command) => (await chat(command).invoke(command.prompt)).content,

  stream: async (command) => {
    let text = "";
    for await (const chunk of await chat(command).stream(command.prompt)) text += chunk.content;
    return text;
  },

  tools: async (command) => {
    const bound = chat(command).bindTools([{ type: "function", function: WEATHER }]);
    const [call] = (await bound.invoke(command.prompt)).tool_calls;
    return { name: call.name, ...call.args };
  },

  embeddings: (command) => new OpenAIEmbeddings(settings(command)).embedQuery(command.prompt),

  abort: async (command, signal) => (await chat(command).invoke(command.prompt, { signal })).content,
});
