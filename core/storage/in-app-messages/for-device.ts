import type { Db } from "mongodb";
import type { FilteredPerson } from "../../domain/filters/subject.ts";
import { isDue } from "../../domain/in-app-messages/shown.ts";
import { openAim } from "../../domain/segments/aim.ts";
import { joinedAsks, type Selection, UnusableSegment } from "../../domain/segments/members.ts";
import { collectionOf, type OfApp } from "../mongo/collection.ts";
import type { SubscriptionRow } from "../people/subscription-row.ts";
import { type UserRow, userCollection } from "../people/users.ts";
import type { FactsOf } from "../segments/facts.ts";
import { appSegments, type DefinitionRow, TooManySegments } from "../segments/segments.ts";
import { type InAppMessageRow, inAppMessages } from "./in-app-messages.ts";

/** The in-app messages that are for somebody now, and who they are; null for somebody who is gone. */
export const inAppFor = (db: Db, factsOf: FactsOf) => {
  const [messages, segments] = [inAppMessages(db), appSegments(db)];
  const users = collectionOf<UserRow>(db, userCollection);
  return async (subscription: SubscriptionRow, now: Date) => {
    const { app_id: appId, tenant_id: tenantId, user_id: userId } = subscription;
    const person = await users.findOne({ _id: userId, app_id: appId, tenant_id: tenantId });
    if (person === null) return null;
    const due = (await messages.active(appId)).filter((one) => isDue(one, now));
    const ids = [...new Set(due.flatMap(({ segment_ids: named }) => named))];
    const definitions = await definitionsOf(segments, appId, ids);
    const aimed = due.map((row) => ({ row, selection: selectionOf(row, definitions, now) }));
    const asks = joinedAsks(aimed.flatMap(({ selection }) => (selection === null ? [] : [selection.asks])));
    const of: OfApp = { tenantId, appId };
    const known =
      asks === null ? {} : { facts: await factsOf(of, asks, { userIds: [userId], subscriptions: [subscription] }) };
    const subject = { person: person as FilteredPerson, subscription, ...known }; // sound: a user is all that filters read
    return { person, rows: aimed.flatMap(({ row, selection }) => (selection?.passes(subject) === true ? [row] : [])) };
  };
};

/** Null when segments cannot be said to mean anybody: the messages that name some are nobody's then. */
const definitionsOf = async (
  segments: Pick<ReturnType<typeof appSegments>, "definitions">,
  appId: string,
  ids: readonly string[],
): Promise<DefinitionRow[] | null> => {
  try {
    return ids.length === 0 ? [] : [...(await segments.definitions(appId, ids)).values()];
  } catch (error) {
    if (error instanceof TooManySegments) return null;
    throw error;
  }
};

/** Whom a message means; null when nobody, because of a segment that is gone. */
const selectionOf = (
  { target, segment_ids: named }: InAppMessageRow,
  definitions: DefinitionRow[] | null,
  now: Date,
): Selection | null => {
  if (named.length > 0 && definitions === null) return null;
  const { included_segments: included, excluded_segments: excluded } = target;
  const aim = { isEveryone: included.length === 0, included, excluded, filter: null, segments: definitions ?? [] };
  try {
    return openAim(aim, now, { subscriptionIds: new Set(), userIds: new Set() });
  } catch (error) {
    if (error instanceof UnusableSegment) return null;
    throw error;
  }
};
