// Writes the pages of docs/reference that are made from the code: `npm run docs`.

import { writeFileSync } from "node:fs";
import { PAGES } from "./reference/pages.ts";

for (const [name, write] of Object.entries(PAGES)) {
  writeFileSync(new URL(`../docs/reference/${name}`, import.meta.url), await write());
  console.log(`docs/reference/${name}`);
}
