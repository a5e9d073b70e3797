// What a waiting stream says of itself in a comment: for people who watch with curl, and to keep proxies patient.

import type { Job } from "../domain/job.ts";
import type { HttpWorld } from "./deps.ts";

export async function queueComment(world: HttpWorld, job: Job): Promise<string> {
  const place = await world.engine.queue.place(job);
  if (place === null || place.position === null) return "working";
  const words = [`queued position=${place.position}`];
  if (place.estimatedMs !== null) words.push(`eta=${Math.ceil(place.estimatedMs / 1000)}`);
  if (place.start !== null) {
    const { lowMs, midMs, highMs } = place.start;
    const [low, mid, high] = [lowMs, midMs, highMs].map((ms) => Math.ceil(ms / 1000));
    words.push(`start=${mid} between=${low}-${high}`);
  }
  if (place.loading !== null) {
    const { phase, progress } = place.loading;
    words.push(progress === null ? phase : `${phase}=${Math.round(progress * 100)}%`);
  }
  if (place.blocked !== null) words.push(`blocked=${place.blocked.reason}`);
  return words.join(" ");
}
