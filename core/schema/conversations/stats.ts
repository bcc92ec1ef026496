import { type Static, Type } from "typebox";
import { Nullable } from "../json/common.ts";
import { named } from "../json/named.ts";
import { contactChannels } from "../vocabulary/channels.ts";

const { Array: List, Enum, Integer, Optional, String: Text } = Type;

const Count = Integer({ minimum: 0 });

/** How many assignees are told of by themselves: those with the most open conversations. */
export const mostAssignees = 200;

/** How many conversations of an app are what: some seconds after they changed. */
export const ConversationStats = Type.Object({
  open: Count,
  pending: Count,
  snoozed: Count,
  closed_today: Integer({ minimum: 0, description: "since midnight, UTC, and not opened again" }),
  unassigned: Integer({ minimum: 0, description: "nobody's, and not closed" }),
  unread_conversations: Count,
  unread_messages: Count,
  waiting: Integer({ minimum: 0, description: "in which somebody waits for an answer" }),
  oldest_waiting_since: Nullable(
    Text({ format: "date-time", description: "narrowed: among the 5,000 conversations that wait longest" }),
  ),
  median_first_response_seconds: Nullable(
    Integer({ minimum: 0, description: "of people who were first answered since midnight, UTC; within 5 %" }),
  ),
  by_channel: Type.Record(Text(), Integer({ minimum: 0 }), { description: "those that are not closed" }),
  by_assignee: List(
    Type.Object({
      assignee_id: Nullable(Text()),
      open: Integer({ minimum: 0, description: "those that are not closed" }),
      unread: Integer({ minimum: 0, description: "messages" }),
    }),
    { description: `the ${mostAssignees} with the most` },
  ),
});
export type ConversationStats = Static<typeof ConversationStats>;

/** Query of `GET /v1/apps/{appId}/conversations/stats`. */
export const ConversationStatsQuery = Type.Object({
  channel: Optional(Enum([...contactChannels])),
  assignee_id: Optional(Text({ minLength: 1, maxLength: 64, description: "`none`: nobody's" })),
});
export type ConversationStatsQuery = Static<typeof ConversationStatsQuery>;

named({ ConversationStats });
