// A page that is watched: what it asked of whom, what it complained of, whether it is accessible and fits its width.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import axe from "axe-core";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { onTestFinished } from "vitest";

export const WIDTHS = { desktop: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } } as const;
export type Width = keyof typeof WIDTHS;
export type Theme = "light" | "dark";

/** Where pictures go; kept as artifacts, and looked at. */
const SHOTS = process.env["SIR_SHOTS"] ?? fileURLToPath(new URL("../../.tmp/shots", import.meta.url));

export interface OpenOptions {
  readonly width?: Width;
  readonly theme?: Theme;
  readonly context?: BrowserContextOptions;
  /** Runs in the page before its own scripts. */
  readonly before?: string;
}

export interface WatchedPage {
  readonly page: Page;
  /** Errors of the console and of scripts. */
  readonly complaints: string[];
  /** Every address that was asked for. */
  readonly asked: string[];
  /** Rules of WCAG 2.2 A and AA that are broken, with where. */
  violations(): Promise<string[]>;
  /** Pixels that stick out to the right; 0 is none. */
  sideways(): Promise<number>;
  /** What a new size, theme or medium changes is drawn. */
  settled(): Promise<void>;
  /** The whole page as a picture. */
  shot(name: string): Promise<void>;
}

/** Opened in a context of its own, closed with the test. */
export async function openPage(browser: Browser, url: string, options: OpenOptions = {}): Promise<WatchedPage> {
  const { width = "desktop", theme = "light", before } = options;
  const context = await browser.newContext({ viewport: WIDTHS[width], colorScheme: theme, ...options.context });
  context.setDefaultTimeout(60_000);
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const watched = watch(page);
  if (before !== undefined) await page.addInitScript(before);
  await page.goto(url);
  return watched;
}

export function watch(page: Page): WatchedPage {
  const complaints: string[] = [];
  const asked: string[] = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning")
      complaints.push(`${message.text()} ${message.location().url}`);
  });
  page.on("request", (request) => asked.push(request.url()));
  return {
    page,
    complaints,
    asked,
    violations: () => violationsOf(page),
    sideways: () => page.evaluate(() => Math.max(0, document.documentElement.scrollWidth - innerWidth)),
    settled: () => settled(page),
    shot: (name) => shoot(page, name),
  };
}

/** Requests that went elsewhere than where the page came from; `data:` stays in the page. */
export function offOrigin(asked: readonly string[], origin: string): string[] {
  return asked.filter((url) => !url.startsWith(`${origin}/`) && !url.startsWith("data:"));
}

async function violationsOf(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  return page.evaluate(async () => {
    const { axe: here } = globalThis as unknown as { axe: typeof axe };
    const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
    // An experiment of axe's, which it leaves out by itself but not when tags are named.
    const rules = { "label-content-name-mismatch": { enabled: false } };
    const { violations } = await here.run(document, { runOnly: tags, rules });
    return violations.flatMap(({ id, help, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id}: ${help} at ${target.join(" ")}: ${failureSummary ?? ""}`),
    );
  });
}

/** A frame for what follows the size, one for what that draws, one for charts, which are drawn after it. */
async function settled(page: Page): Promise<void> {
  await page.evaluate(async () => {
    for (let frame = 0; frame < 4; frame += 1) await new Promise(requestAnimationFrame);
  });
}

async function shoot(page: Page, name: string): Promise<void> {
  mkdirSync(SHOTS, { recursive: true });
  const size = page.viewportSize();
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  // Not `fullPage`: what is fixed to the bottom would be drawn in the middle.
  if (size !== null) await page.setViewportSize({ width: size.width, height: Math.max(size.height, height) });
  await settled(page);
  await page.screenshot({ path: join(SHOTS, `${name}.png`) });
  if (size !== null) await page.setViewportSize(size);
}
