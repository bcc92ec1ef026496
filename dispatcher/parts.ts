import { timers } from "#core/queue/timers.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import { kidsOf } from "#core/storage/keys/check.ts";
import { storesPart } from "#core/storage/open.ts";
import { heartbeat } from "#core/storage/status/heartbeat.ts";
import { callbackParts } from "./callbacks/callback-parts.ts";
import { accountOpener } from "./channels/accounts.ts";
import { cleanUpParts } from "./clean-up/clean-up-parts.ts";
import { mediaOf } from "./conversations/media/open.ts";
import { timedConversations } from "./conversations/timed.ts";
import { eventParts } from "./events/event-parts.ts";
import { allJobs } from "./jobs/all.ts";
import { jobParts } from "./jobs/job-parts.ts";
import { messageParts } from "./messages/message-parts.ts";
import { peopleParts } from "./people/people-parts.ts";
import { type Made, platform } from "./platform.ts";
import { warehouseParts } from "./warehouse/warehouse-parts.ts";
import { webhookParts } from "./webhooks/webhook-parts.ts";
import { streams } from "./work/streams.ts";
import { unpublishedEvents } from "./work/unpublished-events.ts";

/** Everything that a dispatcher runs, in the order of starting, but for its health server. */
export const parts = (made: Made): Part[] => {
  const shared = platform(made);
  const openAccount = accountOpener(shared);
  const messages = messageParts({ ...shared, openAccount });
  const { sendHeld, countCutOff } = messages;
  const features = [
    messages,
    unpublishedEvents(shared),
    peopleParts({ ...shared, metrics: shared.metrics.queue }),
    { parts: webhookParts({ ...shared, onSilent: (holder) => void countCutOff(holder) }), timers: [] },
    { parts: eventParts(shared), timers: [] },
    { parts: callbackParts(shared), timers: [] },
    timedConversations({ ...shared, metrics: shared.metrics.queue, registry: shared.metrics.registry }),
    jobParts({
      ...shared,
      jobs: allJobs({ ...shared, ...warehouseParts(shared), ...mediaOf(shared), openAccount, sendHeld }),
    }),
    cleanUpParts(shared),
  ];
  const sources = features.flatMap((feature) => feature.timers);
  return [
    storesPart(
      { ...shared, kids: kidsOf(made.config) },
      { close: async () => void (await Promise.all([shared.files.close(), made.nats.close()])) },
    ),
    streams(shared),
    heartbeat({
      ...shared,
      program: "dispatcher",
      registry: shared.metrics.registry,
      onError: (err) => shared.log.warn({ err }, "heartbeat.failed"),
    }),
    shared.usage,
    shared.changes,
    shared.suspensions,
    ...features.flatMap((feature) => feature.parts),
    timers({ ...shared, sources, metrics: shared.metrics.queue }),
    { name: "halt", start: async () => undefined, stop: async (graceIsOver) => shared.halt(graceIsOver) },
  ];
};
