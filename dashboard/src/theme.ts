// Light or dark: as the system has it until the reader chooses. The first line of index.html sets it before the first
// paint; what was chosen is the only thing that the page keeps in the browser for good.

import { Cell } from "./cell.ts";

type Theme = "light" | "dark";

export const theme = new Cell<Theme>(document.documentElement.dataset["theme"] === "dark" ? "dark" : "light");

export function flipTheme(): void {
  const next: Theme = theme.value === "dark" ? "light" : "dark";
  document.documentElement.dataset["theme"] = next;
  localStorage.setItem("sir-theme", next);
  theme.set(next);
}
