import { type AnyTimerSource, timers } from "#core/queue/timers.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import { cleanUpParts } from "./clean-up/parts.ts";
import { allJobs } from "./jobs/all.ts";
import { jobParts } from "./jobs/parts.ts";
import { messageParts } from "./messages/parts.ts";
import { peopleParts } from "./people/parts.ts";
import { type Made, platform, stores } from "./platform.ts";
import { webhookParts } from "./webhooks/parts.ts";
import { streams } from "./work/streams.ts";
import { unpublishedEvents } from "./work/unpublished-events.ts";

/** Everything that a dispatcher runs, in the order of starting, but for its health server. */
export const parts = (made: Made): Part[] => {
  const shared = platform(made);
  const rooms = [
    messageParts(shared),
    one(unpublishedEvents(shared)),
    peopleParts({ ...shared, metrics: shared.metrics.queue }),
    one(webhookParts(shared)),
    jobParts({ ...shared, jobs: allJobs(shared) }),
    cleanUpParts(shared),
  ];
  const sources = rooms.flatMap((room) => room.timers);
  return [
    stores(made),
    streams(made),
    shared.changes,
    shared.suspensions,
    ...rooms.flatMap((room) => room.parts),
    timers({ ...shared, sources, metrics: shared.metrics.queue }),
    { name: "halt", start: async () => undefined, stop: async (graceIsOver) => shared.halt(graceIsOver) },
  ];
};

/** What a room runs, and the documents whose time it watches. */
type Room = { parts: readonly Part[]; timers: readonly AnyTimerSource[] };

const one = (room: { timer: AnyTimerSource } & ({ part: Part } | { parts: readonly Part[] })): Room => ({
  parts: "part" in room ? [room.part] : room.parts,
  timers: [room.timer],
});
