import type { Db } from "mongodb";
import type { Clock } from "#core/domain/clock.ts";
import type { Announcer } from "#core/queue/announce.ts";
import { announceUses } from "#core/queue/announce-uses.ts";
import type { MjmlCompiler } from "#core/runtime/mjml/compiler.ts";
import type { KeyRing } from "#core/runtime/process/key-ring.ts";
import type { Log } from "#core/runtime/process/log.ts";
import { chunks } from "#core/storage/messages/chunks.ts";
import { deliveries } from "#core/storage/messages/deliveries.ts";
import { deliveryList } from "#core/storage/messages/delivery-list.ts";
import { type MessageRow } from "#core/storage/messages/message-row.ts";
import { messageCollection, messages as messageStore } from "#core/storage/messages/messages.ts";
import { scheduledList } from "#core/storage/messages/scheduled-list.ts";
import { settleReserved } from "#core/storage/messages/settlement.ts";
import { targets } from "#core/storage/messages/targets.ts";
import { usage } from "#core/storage/messages/usage.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { contacts } from "#core/storage/people/contacts.ts";
import { habitsOf } from "#core/storage/people/habits.ts";
import { users } from "#core/storage/people/users.ts";
import { zonesOf } from "#core/storage/people/zones.ts";
import { appSegments } from "#core/storage/segments/segments.ts";
import { templates } from "#core/storage/templates/templates.ts";
import { templateVersions } from "#core/storage/templates/versions.ts";
import type { CountAccepted } from "../accepting/accept-message.ts";
import { makeContacts } from "../accepting/make-contacts.ts";
import { aimOf } from "../audience/aim.ts";
import { counting } from "../audience/counting.ts";
import { estimate } from "../audience/estimate.ts";
import { lastCount } from "../audience/last-count.ts";
import { planSchedule } from "../audience/schedule.ts";
import type { Cursors } from "../http/pages.ts";
import { billableCount } from "../limits/billable-count.ts";
import type { NarrowLimit } from "../limits/narrow-limit.ts";
import { type AllPlans, requireFeature } from "../limits/plan-rules.ts";
import { quota } from "../limits/quota.ts";
import type { MessageHints } from "../publishing/message-hints.ts";
import type { PeopleOutbox } from "../publishing/people-outbox.ts";
import { accept, notificationLimit } from "./accept.ts";
import { acceptBatch } from "./accept-batch.ts";
import { cancel } from "./cancel.ts";
import { estimateAudience } from "./estimate-audience.ts";
import { findDelivery } from "./find-delivery.ts";
import { listMessages } from "./list.ts";
import { listDeliveries } from "./list-deliveries.ts";
import { takeTemplate } from "./take-template.ts";
import { type ValidateDeps, validate } from "./validate.ts";

export type MessagePlatform = {
  db: Db;
  secrets: Pick<KeyRing, "seal" | "open">;
  clock: Clock;
  log: Log;
  countAccepted: CountAccepted;
  cursors: Cursors;
  limit: NarrowLimit;
  hints: MessageHints;
  nats: Pick<Announcer, "changed">;
  mjml: Pick<MjmlCompiler, "compile">;
  contentTemplates: ValidateDeps["templates"];
  explain: ValidateDeps["explain"];
  outboxes: { people: PeopleOutbox };
  plans: AllPlans;
  settings: { firstDayMessages: number };
};

export type MessageUse = ReturnType<typeof messageUseCases>;

/** What the operations on notifications do. */
export const messageUseCases = (platform: MessagePlatform) => {
  const { db, secrets, clock, log, cursors, limit, hints, mjml, plans, settings, countAccepted, outboxes } = platform;
  const messages = messageStore(db);
  const counters = usage(db);
  const reservations = quota({ usage: counters, stored: messages.stored, ...settings });
  const segments = appSegments(db);
  const aimed = aimOf({ segments });
  const counted = estimate({ targets: targets(db), ...counting({ db, secrets, clock, log }) });
  const take = takeTemplate({ templates: templates(db), versions: templateVersions(db) });
  const schedules = planSchedule({ zonesOf: zonesOf(db), habitsOf: habitsOf(db) });
  const asked = { estimate: counted, aimOf: aimed, limit, planSchedule: schedules, clock };
  const ofPlan = requireFeature(plans);
  const limitCreating = notificationLimit(limit);
  const acceptOne = accept({
    messages,
    estimate: counted,
    aimOf: aimed,
    take,
    requireFeature: ofPlan,
    compile: mjml.compile,
    quota: reservations,
    publish: hints.message,
    count: countAccepted,
    clock,
    ...makeContacts({ contacts: contacts(db), countBillable: billableCount(db, clock), publish: outboxes.people }),
  });
  return {
    find: messages.find,
    findDelivery: findDelivery({ deliveries: deliveries(db), messages }),
    list: listMessages({ messages, cursors }),
    listDeliveries: listDeliveries({ deliveries: deliveryList(db), scheduled: scheduledList(db), cursors }),
    limit: limitCreating,
    accept: acceptOne,
    acceptBatch: acceptBatch({
      limit: limitCreating,
      accept: acceptOne,
      onFailure: (err, requestId) => log.error({ err, requestId }, "request.failed"),
    }),
    estimateAudience: estimateAudience({ ...asked, lastCount: lastCount(segments) }),
    validate: validate({
      requireFeature: ofPlan,
      estimate: counted,
      aimOf: aimed,
      take,
      compile: mjml.compile,
      clock,
      limit,
      planSchedule: schedules,
      templates: platform.contentTemplates,
      users: users(db),
      explain: platform.explain,
    }),
    cancel: announcedCancel(platform, messages, counters),
  };
};

/** Cancels a message, and has whoever shows what uses its template and segments hear of it. */
const announcedCancel = (
  { db, nats, clock }: Pick<MessagePlatform, "db" | "nats" | "clock">,
  messages: ReturnType<typeof messageStore>,
  counters: ReturnType<typeof usage>,
) => {
  const settle = settleReserved(collectionOf<MessageRow>(db, messageCollection), counters);
  const one = cancel({ messages, chunks: chunks(db), settle, clock });
  return async (...asked: Parameters<typeof one>): Promise<MessageRow> => {
    const cancelled = await one(...asked);
    announceUses(nats, cancelled);
    return cancelled;
  };
};
