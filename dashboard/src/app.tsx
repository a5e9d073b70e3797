// The frame around every page: navigation, whether it is live, what went wrong, keys.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { keyWanted } from "./api.ts";
import { Banner } from "./banner.tsx";
import { useCell } from "./cell.ts";
import { Foot, KeyHelp, Navigation } from "./frame.tsx";
import { AskKey } from "./key-form.tsx";
import { listenForKeys } from "./keyboard.ts";
import { PAGES } from "./pages.tsx";
import { Patterns } from "./parts/patterns.tsx";
import { useRoute } from "./route.ts";

export function App() {
  const [help, setHelp] = useState(false);
  const asks = useCell(keyWanted);
  useEffect(() => listenForKeys(() => setHelp(true)), []);
  return (
    <>
      <Patterns />
      {/* biome-ignore lint/a11y/useValidAnchor: it goes to a place on this page, where the hash belongs to the route */}
      <a class="skip" href="#main" onClick={skip}>
        Skip to content
      </a>
      <div class="frame">
        <header class="side">
          <a class="brand" href="#/" aria-label="SIR, to the page Now">
            <svg width="26" height="26" viewBox="0 0 26 26" aria-hidden="true">
              <rect width="26" height="26" rx="7" />
              <path d="M6 8h9M6 13h14M6 18h6" />
            </svg>
            <span>SIR</span>
          </a>
          <Navigation />
          <Foot showHelp={() => setHelp(true)} />
        </header>
        {asks ? <AskKey /> : <Content />}
      </div>
      {help && <KeyHelp close={() => setHelp(false)} />}
    </>
  );
}

function skip(event: Event): void {
  event.preventDefault();
  document.getElementById("main")?.focus();
}

/** The page of the address. After a change of page the focus goes to it at once, as it would with a new document. */
function Content() {
  const route = useRoute();
  const page = PAGES.find(({ path }) => path === (route.path[0] ?? "")) ?? null;
  const place = page?.whole === true ? page.path : route.path.slice(0, 2).join("/");
  const main = useRef<HTMLElement>(null);
  const first = useRef(true);
  useLayoutEffect(() => {
    document.title = `${page?.name ?? "Not found"} · SIR`;
    if (!first.current) {
      main.current?.focus({ preventScroll: true });
      scrollTo(0, 0);
    }
    first.current = false;
  }, [place, page]);
  return (
    <main id="main" ref={main} tabIndex={-1}>
      <Banner />
      {page === null ? <NoSuchPage /> : page.draw(route)}
    </main>
  );
}

function NoSuchPage() {
  return (
    <section class="panel">
      <h1>There is no such page</h1>
      <p>
        The address names none of the pages. <a href="#/">See what happens now.</a>
      </p>
    </section>
  );
}
