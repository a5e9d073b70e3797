// The serving router's own replays. The simulator is read at the first wish: it is no part of serving.

import type { ReplayDesk, ReplayDeskParts } from "../simulator/replay-desk.ts";

type LateDesk = Pick<ReplayDesk, "choices" | "start" | "find" | "remove" | "close">;

export function openReplayDesk(parts: ReplayDeskParts): LateDesk {
  let opened: Promise<ReplayDesk> | null = null;
  const desk = (): Promise<ReplayDesk> => {
    opened ??= import("../simulator/replay-desk.ts").then(({ createReplayDesk }) => createReplayDesk(parts));
    return opened;
  };
  return {
    choices: async () => (await desk()).choices(),
    start: async (wish) => (await desk()).start(wish),
    find: async (id) => (await desk()).find(id),
    remove: async (id) => (await desk()).remove(id),
    close: async () => (await opened)?.close(),
  };
}
