import type { Db } from "mongodb";
import type { Clock } from "#core/domain/clock.ts";
import { auditEntry, auditEvent } from "#core/queue/audit.ts";
import type { KeyRing } from "#core/runtime/process/key-ring.ts";
import type { Log } from "#core/runtime/process/log.ts";
import type { Why, WhyQuery } from "#core/schema/why/why.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { auditLog } from "#core/storage/audit/audit-log.ts";
import { capTakes } from "#core/storage/messages/cap-takes.ts";
import { deliveries } from "#core/storage/messages/deliveries.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import { messages } from "#core/storage/messages/messages.ts";
import { targets } from "#core/storage/messages/targets.ts";
import { subscriptions } from "#core/storage/people/subscriptions.ts";
import { users } from "#core/storage/people/users.ts";
import { filterFacts } from "#core/storage/segments/facts.ts";
import { suppressionKeys } from "#core/storage/suppressions/keys.ts";
import { suppressions } from "#core/storage/suppressions/suppressions.ts";
import { deliveryEnds } from "#core/storage/why/ends.ts";
import { whySubjects } from "#core/storage/why/subjects.ts";
import { counting } from "../audience/counting.ts";
import { estimate } from "../audience/estimate.ts";
import type { NarrowLimit } from "../limits/narrow-limit.ts";
import type { EventStore } from "../publishing/event-store.ts";
import type { By } from "../settings/audit.ts";
import { leftOut } from "./left-out.ts";
import { whySummary } from "./summary.ts";
import { why } from "./why.ts";

export type WhyPlatform = {
  db: Db;
  secrets: Pick<KeyRing, "seal" | "open">;
  events: Pick<EventStore, "keep">;
  limit: NarrowLimit;
  log: Log;
  clock: Clock;
};

export type WhyUse = ReturnType<typeof whyUseCases>;

/** What the operations on why somebody got a notification use. */
export const whyUseCases = ({ db, secrets, events, limit, log: lines, clock }: WhyPlatform) => {
  const log = auditLog(db);
  const count = estimate({ targets: targets(db), ...counting({ db, secrets, clock, log: lines }) });
  const explain = why({
    users: users(db),
    subscriptions: subscriptions(db),
    subjects: whySubjects(db),
    deliveries: deliveries(db),
    suppressions: suppressions(db),
    subjectsOf: suppressionKeys(db, secrets, clock),
    caps: capTakes(db),
    factsOf: filterFacts({ db, secrets, clock }),
    clock,
  });
  return {
    findMessage: messages(db).find,
    summary: whySummary({ ends: deliveryEnds(db), leftOut: leftOut({ count, limit }), clock }),

    /** An event and the audit log say who asked about whom before the answer is given. */
    why: async (by: By, app: AppRow, message: MessageRow, query: WhyQuery): Promise<Why> => {
      await limit("notifications.why", app._id);
      const found = await explain(app, message, query);
      const fact = {
        tenantId: app.tenant_id,
        appId: app._id,
        actor: { type: "api_key" as const, id: by.caller.key._id },
        action: "notification.explained",
        target: { type: "notification", id: message._id },
        changes: { asked_about: { before: null, after: found.user_id } },
        ip: by.ip,
        requestId: by.requestId,
      };
      const event = auditEvent(fact, clock.now());
      await log.add([auditEntry(fact, clock.now())]);
      await events.keep({ tenantId: app.tenant_id, appId: app._id, traceparent: null, events: [event] });
      return found;
    },
  };
};
