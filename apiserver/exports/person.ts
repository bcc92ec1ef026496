import type { Clock } from "#core/domain/clock.ts";
import { conversationOfPerson, messageOfPerson, noteOfPerson } from "#core/domain/conversations/personal-data.ts";
import { derivedIdAt } from "#core/domain/ids.ts";
import { deliveryView } from "#core/domain/messages/delivery-view.ts";
import {
  addressesOf,
  eventOfPerson,
  inAppEventOfPerson,
  inboxOf,
  sessionsOfPerson,
} from "#core/domain/people/personal-data.ts";
import { userView } from "#core/domain/people/views.ts";
import { suppressionView } from "#core/domain/suppressions/views.ts";
import { type PersonalData, personalDataBytes } from "#core/schema/people/data.ts";
import type { ExportRow } from "#core/storage/exports/export-row.ts";
import type { Exports } from "#core/storage/exports/exports.ts";
import { subjectOfPerson } from "#core/storage/exports/person.ts";
import { ofRow } from "#core/storage/mongo/collection.ts";
import type { dataOfPerson } from "#core/storage/people/data.ts";
import { keysOfPerson } from "#core/storage/people/removal.ts";
import type { Subscriptions } from "#core/storage/people/subscriptions.ts";
import type { UserRow } from "#core/storage/people/users.ts";
import type { Caller } from "../access/caller.ts";
import type { NarrowLimit } from "../limits/narrow-limit.ts";
import type { addExport } from "./add.ts";
import { isUsable, minuteMs } from "./of-message.ts";

export type OfPersonDeps = {
  subscriptions: Pick<Subscriptions, "ofUser">;
  read: ReturnType<typeof dataOfPerson>;
  exports: Pick<Exports, "latest">;
  add: ReturnType<typeof addExport>;
  limit: NarrowLimit;
  clock: Clock;
};

/** What is stored about a person; or, where that is too much for a reply, the export that it is written into. */
export type OfPerson = { data: PersonalData } | { made: ExportRow };

/**
 * Shows what is stored about a person, addresses unmasked. Source: docs/reference/people.md#personal-data.
 * @throws RateLimited, and what the creation of an export throws
 */
export const ofPerson =
  (deps: OfPersonDeps) =>
  async (caller: Caller, user: UserRow): Promise<OfPerson> => {
    await deps.limit("users.data", user.app_id);
    const data = await dataOf(deps, user);
    return data === null ? { made: await exportOf(deps, caller, user) } : { data };
  };

/** Null when it is more than a reply may have. */
const dataOf = async ({ subscriptions, read, clock }: OfPersonDeps, user: UserRow): Promise<PersonalData | null> => {
  const of = ofRow(user);
  const owned = await subscriptions.ofUser(of, user._id);
  const stored = await read(of, keysOfPerson(user, owned), {
    mostBytes: personalDataBytes,
    now: clock.now(),
  });
  if (stored === null) return null;
  const data = {
    user: userView(user, owned),
    addresses: addressesOf(owned),
    suppressions: stored.suppressions.map(suppressionView),
    events: stored.events.map(eventOfPerson),
    deliveries: stored.deliveries.map(deliveryView),
    inbox: inboxOf(stored.inbox),
    in_app_events: stored.in_app_events.map(inAppEventOfPerson),
    sessions: stored.sessions.map(sessionsOfPerson),
    conversations: stored.conversations.map(conversationOfPerson),
    conversation_messages: stored.conversation_messages.map(messageOfPerson),
    conversation_notes: stored.conversation_notes.map(noteOfPerson),
    generated_at: clock.now().toISOString(),
  };
  return Buffer.byteLength(JSON.stringify(data)) > personalDataBytes ? null : data;
};

/** The latest that has not ended or can be downloaded, else a new one. Requests that come at once make one. */
const exportOf = async ({ exports, add, clock }: OfPersonDeps, caller: Caller, user: UserRow): Promise<ExportRow> => {
  const [of, subject, now] = [ofRow(user), subjectOfPerson(user._id), clock.now()];
  const latest = await exports.latest(of, subject);
  if (latest !== null && isUsable(latest, now, false)) return latest;
  const minute = new Date(Math.floor(now.getTime() / minuteMs) * minuteMs);
  const id = derivedIdAt("export", minute, subject, latest?._id ?? "");
  const wanted = { type: "personal_data", filters: {}, compression: "none", operation: null } as const;
  return add({ ...wanted, of, caller, id, subject, person: user._id });
};
