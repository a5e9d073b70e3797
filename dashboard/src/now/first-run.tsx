// What stands in the place of figures while nobody has asked anything: how to ask, with this router's own address.

import { origin } from "../api.ts";
import { useSelected } from "../cell.ts";
import { status } from "../live/state.ts";

export function FirstRun() {
  const model = useSelected(status, (value) => value?.models[0]?.label ?? "chat");
  const curl = [
    `curl ${origin}/v1/chat/completions \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d '{"model": ${JSON.stringify(model)}, "messages": [{"role": "user", "content": "Hello"}]}'`,
  ].join("\n");
  return (
    <section class="panel first-run" aria-labelledby="h-first">
      <h2 id="h-first">Nothing has been asked yet</h2>
      <ol>
        <li>
          Ask something. Any client of OpenAI's will do, with <code>{`${origin}/v1`}</code> as its base address.
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
          <pre tabIndex={0}>{curl}</pre>
        </li>
        <li>
          Watch it here: the model is loaded, the job runs, and every decision stands on the timeline with its reason.
        </li>
        <li>
          Bring your own models: <code>npx sir init</code> looks at what this machine has and writes a configuration.
        </li>
      </ol>
    </section>
  );
}
