// The pages, in the order of the navigation: one line each. A page is a folder with a `page.tsx`.

import type { ComponentChildren } from "preact";
import { DecisionsPage } from "./decisions/page.tsx";
import { JobPage } from "./job/page.tsx";
import { JobsPage } from "./jobs/page.tsx";
import { ModelsPage } from "./models/page.tsx";
import { NowPage } from "./now/page.tsx";
import type { Route } from "./route.ts";
import { WhatIfPage } from "./what-if/page.tsx";

interface Page {
  /** First segment of the address; "" is the start. */
  readonly path: string;
  readonly name: string;
  /** After `g`. */
  readonly key: string;
  /** A path in a box of 24 units. */
  readonly icon: string;
  /** Its addresses are one page: going from one to another leaves focus and scrolling to it. */
  readonly whole?: true;
  /** Segments behind the first come in `route.path`. */
  draw(route: Route): ComponentChildren;
}

export const PAGES: readonly Page[] = [
  { path: "", name: "Now", key: "n", icon: "M2 12h5l3-8 4 16 3-8h5", draw: () => <NowPage /> },
  {
    path: "jobs",
    name: "Jobs",
    key: "j",
    icon: "M4 6h16M4 12h16M4 18h9",
    draw: (route) => {
      const id = route.path[1];
      return id === undefined ? <JobsPage route={route} /> : <JobPage id={id} key={id} route={route} />;
    },
  },
  {
    path: "decisions",
    name: "Decisions",
    key: "d",
    icon: "M12 3l9 9-9 9-9-9z",
    whole: true,
    draw: (route) => <DecisionsPage route={route} />,
  },
  {
    path: "models",
    name: "Models",
    key: "m",
    icon: "M3 7.5l9-4.5 9 4.5-9 4.5zM3 12.5l9 4.5 9-4.5M3 17l9 4.5 9-4.5",
    draw: () => <ModelsPage />,
  },
  {
    path: "what-if",
    name: "What if",
    key: "w",
    icon: "M4 20V11M10 20V4M16 20v-8M21 20H3",
    draw: (route) => <WhatIfPage route={route} />,
  },
];
