// Circles of imports: files that lead back to themselves, and folders that do.

import { posix } from "node:path";
import type { SourceFile } from "./rules.ts";
import { importsOf, valueImportsOf } from "./source-text.ts";

type Graph = ReadonlyMap<string, ReadonlySet<string>>;

type Circles = readonly (readonly string[])[];

/** The files of each circle, sorted. Types do not count: a part may name the whole that it is a part of. */
export function fileCircles(files: readonly SourceFile[]): Circles {
  return circlesOf(graphOf(files, (path) => path, valueImportsOf));
}

/** The folders below the first one, e.g. those of `src/`; here types count as well. A file beside them stands for itself. */
export function folderCircles(files: readonly SourceFile[]): Circles {
  return circlesOf(graphOf(files, (path) => path.split("/").slice(0, 2).join("/"), importsOf));
}

function graphOf(
  files: readonly SourceFile[],
  nodeOf: (path: string) => string,
  read: (text: string) => readonly string[],
): Graph {
  const graph = new Map<string, Set<string>>();
  for (const { path, text } of files) {
    const from = nodeOf(path);
    const targets = graph.get(from) ?? new Set();
    graph.set(from, targets);
    for (const specifier of read(text)) {
      if (!specifier.startsWith(".")) continue;
      const target = nodeOf(posix.normalize(posix.join(posix.dirname(path), specifier)));
      if (target !== from) targets.add(target);
    }
  }
  return graph;
}

/** Two nodes share a circle when each can be reached from the other. */
function circlesOf(graph: Graph): Circles {
  const reach = new Map([...graph.keys()].map((node) => [node, reachableFrom(graph, node)]));
  const seen = new Set<string>();
  const circles: string[][] = [];
  for (const node of graph.keys()) {
    if (seen.has(node) || reach.get(node)?.has(node) !== true) continue;
    const circle = [...graph.keys()].filter((other) => reach.get(node)?.has(other) && reach.get(other)?.has(node));
    for (const member of circle) seen.add(member);
    circles.push(circle.sort());
  }
  return circles;
}

function reachableFrom(graph: Graph, start: string): ReadonlySet<string> {
  const reached = new Set<string>();
  const open = [start];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    for (const next of graph.get(node) ?? []) {
      if (reached.has(next)) continue;
      reached.add(next);
      open.push(next);
    }
  }
  return reached;
}
