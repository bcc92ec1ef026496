import { type Static, Type } from "typebox";
import { DateTime, Nullable } from "../json/common.ts";
import { named } from "../json/named.ts";

const { Array: List, Object: Members, Record, String: Text } = Type;

/** What a message left in a person's inbox. Source: docs/reference/inbox.md. */
export const InboxItem = Members({
  id: Text(),
  message_id: Text(),
  title: Nullable(Text()),
  body: Nullable(Text()),
  image_url: Nullable(Text()),
  url: Nullable(Text()),
  data: Record(Text(), Text()),
  actions: List(Members({ id: Text(), text: Text(), url: Nullable(Text()) }), { description: "the message's buttons" }),
  category: Nullable(Text()),
  created_at: DateTime,
  expires_at: DateTime,
  seen_at: Nullable(DateTime),
  read_at: Nullable(DateTime),
  archived_at: Nullable(DateTime),
  snoozed_until: Nullable(DateTime),
});
export type InboxItem = Static<typeof InboxItem>;

named({ InboxItem });
