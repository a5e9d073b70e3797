// Asks for the key, once for this tab. It is kept until the tab is closed and sent as a header.

import { useState } from "preact/hooks";
import { giveKey, hasKey } from "./api.ts";

export function AskKey() {
  const [key, setKey] = useState("");
  const refused = hasKey();
  const take = (event: Event): void => {
    event.preventDefault();
    if (key.trim() !== "") giveKey(key.trim());
  };
  return (
    <main id="main" tabIndex={-1}>
      <section class="panel ask-key" aria-labelledby="h-key">
        <h1 id="h-key">{refused ? "The router does not know this key" : "This router asks for a key"}</h1>
        <p>
          One with the scope <code>observe</code> shows everything; with <code>operate</code> it may also load, unload
          and pause. It stays in this tab and is forgotten with it.
        </p>
        <form onSubmit={take}>
          <label for="key">Key</label>
          <input
            id="key"
            type="password"
            autocomplete="off"
            spellcheck={false}
            value={key}
            onInput={(event) => setKey(event.currentTarget.value)}
          />
          <button type="submit" class="button primary" disabled={key.trim() === ""}>
            Open the dashboard
          </button>
        </form>
        <p class="note">
          No key yet? On the router's machine: <code>npx sir keys new my-name --scopes observe</code>
        </p>
      </section>
    </main>
  );
}
