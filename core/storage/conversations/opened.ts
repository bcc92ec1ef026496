import { blankState, type ConversationPlace, placeOf } from "../../domain/conversations/conversation.ts";
import type { OfApp } from "../mongo/collection.ts";
import type { SubscriptionRow } from "../people/subscription-row.ts";
import { noWork } from "../work/due.ts";
import type { ConversationRow } from "./conversation-row.ts";

/** What a conversation is made of: `person` is the subscription of whom it is with. */
export type Opening = { id: string; of: OfApp; place: ConversationPlace; person: SubscriptionRow; now: Date };

/** A conversation in which nothing was said, and which is nobody's. It is not stored. */
export const openedRow = ({ id, of, place, person, now }: Opening): ConversationRow => ({
  ...blankState,
  channel: place.channel,
  sender_address: place.sender_address,
  contact_address: place.contact_address,
  ...(place.thread_key !== undefined && { thread_key: place.thread_key }),
  _id: id,
  tenant_id: of.tenantId,
  app_id: of.appId,
  place: placeOf(place),
  subscription_id: person._id,
  user_id: person.user_id,
  external_id: person.external_id,
  assignee_id: "none",
  last_message_id: null,
  seq: 0,
  appended: [],
  outbox: [],
  ...noWork,
  created_at: now,
  updated_at: now,
});
