// sir-router/client by itself, with nothing of a runtime but what the web has; run in each of them.

import { createClient, JobCancelled, sirFetch } from "sir-router/client";
import { KEY, talk } from "./talk.mjs";

const clientFor = ({ baseURL }) => createClient({ baseURL, apiKey: KEY });
const bodyOf = ({ model, prompt }) => ({ model, messages: [{ role: "user", content: prompt }] });

talk({
  plain: async (command) => {
    const response = await sirFetch()(`${command.baseURL}/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${KEY}` },
      body: JSON.stringify(bodyOf(command)),
    });
    return (await response.json()).choices[0].message.content;
  },

  job: async (command) => {
    const client = clientFor(command);
    const job = await client.submit(bodyOf(command));
    const events = [];
    for await (const { event } of job.events()) events.push(event);
    const answer = await job.result();
    const listed = [];
    for await (const { id } of client.jobs.list({ pageSize: 1 })) {
      listed.push(id);
      if (id === job.id) break;
    }
    return { last: events.at(-1), text: answer.choices[0].message.content, listed: listed.includes(job.id) };
  },

  cancel: async (command) => {
    const job = await clientFor(command).submit(bodyOf(command));
    const waiting = job.result().catch((error) => error);
    const { status } = await job.cancel();
    const error = await waiting;
    return { status, isCancelled: error instanceof JobCancelled, reason: error.reason };
  },

  deadline: async (command) => {
    const error = await clientFor(command)
      .run(bodyOf(command), { deadlineSeconds: 3 })
      .catch((thrown) => thrown);
    return { name: error.name, code: error.code };
  },

  abort: (command, signal) => clientFor(command).run(bodyOf(command), { signal }),
});
