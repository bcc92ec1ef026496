import type { Receipt } from "#core/domain/messages/receipts.ts";
import type { Arrivals } from "#core/storage/conversations/arrivals.ts";
import { inboundId, inboundMailIds } from "#core/storage/conversations/inbound-id.ts";
import type { SentReply } from "#core/storage/conversations/sent-replies.ts";
import type { Answerable } from "#core/storage/messages/answered.ts";
import type { OfApp } from "#core/storage/mongo/collection.ts";
import type { Prepared } from "./arrival.ts";
import type { Answered } from "./receive.ts";

export type AnsweredDeps = {
  stored: Arrivals["stored"];
  deliveries: (
    of: OfApp,
    asked: { userIds: readonly string[]; providerIds: readonly string[] },
    now: Date,
  ) => Promise<Answerable[]>;
  /** Replies in conversations, by the ids of their notifications. */
  replies: (of: OfApp, asked: readonly SentReply[]) => Promise<ReadonlyMap<string, string>>;
  /** Applies receipts of deliveries. May be done twice. */
  apply: (of: OfApp, receipts: readonly Receipt[]) => Promise<unknown>;
};

/**
 * What messages answer: another message of a conversation, of the person or ours, else the delivery of a notification. Whoever answers that by a
 * button has clicked it.
 */
export const answeredBy =
  ({ stored, deliveries, replies, apply }: AnsweredDeps) =>
  async (of: OfApp, all: readonly Prepared[], now: Date): Promise<Answered> => {
    const asking = all.filter((one) => quotedBy(one) !== null);
    if (asking.length === 0) return new Map();
    const found = new Set((await stored([...new Set(asking.flatMap(quotedIds))])).map(({ _id }) => _id));
    const known = new Map(asking.map((one) => [one.id, quotedIds(one).find((id) => found.has(id))]));
    const others = asking.filter((one) => known.get(one.id) === undefined);
    const answerable = others.length === 0 ? [] : await deliveries(of, askedBy(others), now);
    const sent = new Map(answerable.map((row) => [`${row.user_id} ${row.provider_message_id}`, row._id]));
    const replied = await repliesAmong(answerable, (asked) => replies(of, asked));
    const deliveryOf = (one: Prepared) => sent.get(`${one.contact.user_id} ${quotedBy(one)}`);
    const clicks = others.flatMap((one) => clickOf(one, deliveryOf(one)));
    if (clicks.length > 0) await apply(of, clicks);
    return new Map(
      asking.flatMap((one) => {
        const answered = known.get(one.id) ?? one.message.mail?.deliveryId ?? deliveryOf(one);
        return answered === undefined ? [] : [[one.id, replied.get(answered) ?? answered] as const];
      }),
    );
  };

/** The replies that deliveries are of, by the ids of these. */
const repliesAmong = async (
  answerable: readonly Answerable[],
  find: (asked: readonly SentReply[]) => Promise<ReadonlyMap<string, string>>,
): Promise<ReadonlyMap<string, string>> => {
  const found = await find(
    answerable.flatMap(({ conversation_id: conversationId, message_id: messageId }) =>
      conversationId === undefined ? [] : [{ conversationId, messageId }],
    ),
  );
  return new Map(
    answerable.flatMap(({ _id, message_id }) => {
      const reply = found.get(message_id);
      return reply === undefined ? [] : [[_id, reply] as const];
    }),
  );
};

/** The provider's id of what a message answers, or reacts to. */
const quotedBy = ({ message }: Prepared): string | null => message.replyTo ?? message.reaction?.messageId ?? null;

/** Where the message of a person's that one answers is, if it is one. */
const quotedIds = (one: Prepared): string[] => {
  const id = quotedBy(one);
  if (id === null) return [];
  return one.channel === "email" ? inboundMailIds(one.of.appId, id) : [inboundId(one.of.appId, one.provider, id)];
};

const quotedIn = (all: readonly Prepared[]): string[] => [...new Set(all.flatMap((one) => quotedBy(one) ?? []))];

const askedBy = (all: readonly Prepared[]) => ({
  userIds: all.map(({ contact }) => contact.user_id),
  providerIds: quotedIn(all),
});

const clickOf = ({ message }: Prepared, deliveryId: string | undefined): Receipt[] =>
  deliveryId === undefined || message.button === null
    ? []
    : [
        {
          kind: "clicked",
          deliveryId,
          providerId: null,
          address: message.address,
          at: message.at,
          machine: false,
          url: null,
          buttonId: message.button.id,
        },
      ];
