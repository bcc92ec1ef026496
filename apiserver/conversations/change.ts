import type { Clock } from "#core/domain/clock.ts";
import { changeEvent } from "#core/domain/conversations/events.ts";
import { AppError, invalid, Unavailable } from "#core/errors.ts";
import type { AssignConversation, UpdateConversation } from "#core/schema/conversations/conversation.ts";
import type { ConversationRow } from "#core/storage/conversations/conversation-row.ts";
import type { Conversations } from "#core/storage/conversations/conversations.ts";
import { ofRow } from "#core/storage/mongo/collection.ts";
import { sweepAfter } from "#core/storage/work/due.ts";
import { existing } from "../http/locate.ts";

export type ChangeDeps = {
  conversations: Pick<Conversations, "find" | "put" | "keepLast">;
  /** Publishes what is in an outbox, and has the conversation counted, without being waited for. */
  publish: (row: ConversationRow) => void;
  clock: Clock;
};

const attempts = 5; // each lost to another writer of the same conversation
const mostAttributes = 50;
const mostUnpublished = 100; // events of one conversation while the stream is away

type Changed = Partial<ConversationRow> | null;

/**
 * Changes a conversation as it is by then, and tells of it: `change` is asked again when another was quicker, and gives null when
 * it was changed so already, by an attempt that was cut off.
 * @throws AppError HS_CONFLICT, and what `change` throws; Unavailable
 */
export const changeConversation = async (
  { conversations, publish, clock }: ChangeDeps,
  read: ConversationRow,
  change: (read: ConversationRow, now: Date) => Changed | Promise<Changed>,
): Promise<ConversationRow> => {
  let before = read;
  for (let attempt = 0; attempt < attempts; attempt++) {
    const now = clock.now();
    const changed = await change(before, now);
    if (changed === null) {
      await conversations.keepLast(before);
      return before;
    }
    const after = withEvent(before, {
      ...before,
      ...changed,
      seq: before.seq + 1,
      uncounted_at: now,
      updated_at: now,
    });
    if (await conversations.put(before, after)) {
      publish(after);
      return after;
    }
    before = existing(await conversations.find(ofRow(read), read._id), "conversation");
  }
  throw new AppError("HS_CONFLICT", "the conversation is being changed by others at the same moment", {
    status: "busy",
  });
};

/** A conversation as it is stored after a change. @throws Unavailable */
const withEvent = (before: ConversationRow, after: ConversationRow): ConversationRow => {
  const event = changeEvent(before, after, "api_key");
  if (event === null) return after;
  if (before.outbox.length >= mostUnpublished) throw new Unavailable("the stream of events");
  return { ...after, outbox: [...before.outbox, event], due_at: sweepAfter(after.updated_at) };
};

/** A conversation whose place another one took stays closed: there is one at a time. @throws AppError HS_CONFLICT */
export const requirePlace = ({ place, status }: ConversationRow): void => {
  if (place === undefined)
    throw new AppError("HS_CONFLICT", "a later conversation with the person has taken its place", { status });
};

/** @throws AppError HS_CONFLICT for a status that the present one does not lead to */
const requireWay = (read: ConversationRow, status: UpdateConversation["status"]): void => {
  if (status === undefined || status === read.status || read.status !== "closed") return;
  requirePlace(read);
  if (status !== "open")
    throw new AppError("HS_CONFLICT", "a closed conversation can only be opened", { status: "closed" });
};

/** What a body of PATCH changes. @throws ValidationError; AppError HS_CONFLICT */
export const updateOf =
  (body: UpdateConversation) =>
  (read: ConversationRow, now: Date): Partial<ConversationRow> => {
    requireWay(read, body.status);
    requireSnooze(body, read, now);
    return changedBy(body, read, now);
  };

/** @throws ValidationError for an end of a snooze that is none */
const requireSnooze = (
  { status, snoozed_until: until }: UpdateConversation,
  read: ConversationRow,
  now: Date,
): void => {
  if (until === undefined) return;
  if ((status ?? read.status) !== "snoozed") throw invalid("snoozed_until", "goes with the status snoozed alone");
  if (until === null) return;
  if (new Date(until) <= now) throw invalid("snoozed_until", "must be later than now");
};

const changedBy = (
  { status, snoozed_until: until, tags, custom_attributes: attributes, ...plain }: UpdateConversation,
  read: ConversationRow,
  now: Date,
): Partial<ConversationRow> => ({
  ...(Object.fromEntries(Object.entries(plain).filter(([, value]) => value !== undefined)) as Partial<ConversationRow>), // sound: its members are the conversation's
  ...(status !== undefined &&
    status !== read.status && { status, snoozed_until: null, closed_at: status === "closed" ? now : null }),
  ...(until !== undefined && { snoozed_until: until === null ? null : new Date(until) }),
  ...(tags !== undefined && tagged(tags)),
  ...(attributes !== undefined && { custom_attributes: merged(read.custom_attributes, attributes) }),
});

/** Tags, and the same where the index of tags finds them. */
export const tagged = (tags: string[]): Pick<ConversationRow, "tags" | "tag_keys"> => ({
  tags,
  tag_keys: tags.length === 0 ? null : tags,
});

const merged = (
  before: ConversationRow["custom_attributes"],
  given: NonNullable<UpdateConversation["custom_attributes"]>,
): ConversationRow["custom_attributes"] => {
  const all = Object.entries({ ...before, ...given }).flatMap(([name, value]) =>
    value === null ? [] : [[name, value] as const],
  );
  if (all.length > mostAttributes)
    throw invalid("custom_attributes", `must be at most ${mostAttributes} with those that there are`);
  return Object.fromEntries(all);
};

/** Whom a body of `…/assign` gives it to. @throws AppError HS_CONFLICT when it is another's than is believed */
export const assignmentOf =
  ({ assignee, expected_assignee: expected, claim, handled_by }: AssignConversation) =>
  (read: ConversationRow): Partial<ConversationRow> => {
    const present = read.assignee?.id ?? null;
    const isExpected = expected === undefined || expected === present;
    if (!isExpected || (claim === true && present !== null))
      throw new AppError("HS_CONFLICT", "the conversation is assigned to another", {
        status: read.status,
        assignee: present,
      });
    return {
      ...assigned(assignee),
      ...(handled_by !== undefined && { handled_by }),
    };
  };

/** Whose a conversation is. */
export const assigned = (
  assignee: AssignConversation["assignee"],
): Pick<ConversationRow, "assignee" | "assignee_id"> => ({
  assignee: assignee && { name: null, ...assignee },
  assignee_id: assignee?.id ?? "none",
});
