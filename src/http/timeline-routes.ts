// What devices did and how long queues were, for charts.

import type { HttpWorld } from "./deps.ts";
import { seriesQuery, timelineQuery } from "./parameters.ts";
import { json, type Route } from "./route.ts";
import { SeriesSchema, TimelineSchema } from "./schemas-live.ts";
import { readSeries, readTimeline } from "./timeline.ts";

export function timelineRoutes(world: HttpWorld): Route[] {
  const tag = "operations";
  return [
    {
      method: "get",
      path: "/v1/timeline",
      tag,
      summary: "What each model did on each device, and which decisions moved it",
      query: timelineQuery,
      answers: { 200: json(TimelineSchema, "The window; what goes on is in it") },
      handle: (c) => readTimeline(c, world),
    },
    {
      method: "get",
      path: "/v1/series",
      tag,
      summary: "How many jobs waited, over time",
      query: seriesQuery,
      answers: { 200: json(SeriesSchema, "In columns; the minute that runs is in it") },
      handle: (c) => readSeries(c, world),
    },
  ];
}
