import type { Clock } from "#core/domain/clock.ts";
import { orderView } from "#core/domain/conversations/personal-data.ts";
import { canReply, isFailedReply, notAccepted } from "#core/domain/conversations/reply.ts";
import { hourMs } from "#core/domain/durations.ts";
import { isSessionOpen } from "#core/domain/people/session.ts";
import { Conversation } from "#core/schema/conversations/conversation.ts";
import { type ConversationMedia, ConversationMessage, ConversationNote } from "#core/schema/conversations/message.ts";
import { showAs } from "#core/schema/json/show.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { ConversationRow } from "#core/storage/conversations/conversation-row.ts";
import type { ConversationMessageRow, MediaRow } from "#core/storage/conversations/message-row.ts";
import type { NoteRow } from "#core/storage/conversations/notes.ts";
import type { FileStore } from "#core/storage/files/store.ts";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import { deliveryIdOf } from "#core/storage/messages/deliveries.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";

export type ViewDeps = {
  messagesOf: (ids: readonly string[]) => Promise<ConversationMessageRow[]>;
  deliveriesOf: (ids: readonly string[]) => Promise<DeliveryRow[]>;
  subscriptionsOf: (ids: readonly string[]) => Promise<SubscriptionRow[]>;
  files: Pick<FileStore, "kind" | "addressOf">;
  clock: Clock;
};

export type Views = ReturnType<typeof views>;

/** Conversations and messages as the REST interface shows them: what became of a reply is read from its delivery. */
export const views = (deps: ViewDeps) => {
  const messages = async (rows: readonly ConversationMessageRow[]): Promise<ConversationMessage[]> => {
    const ids = rows.flatMap((row) => deliveryOf(row) ?? []);
    const found = ids.length === 0 ? [] : await deps.deliveriesOf(ids);
    const deliveries = new Map(found.map((row) => [row._id, row]));
    return Promise.all(rows.map((row) => messageView(deps, row, deliveries.get(deliveryOf(row) ?? "") ?? null)));
  };
  return {
    messages,
    /** Messages and notes, in their order. */
    entries: async (all: readonly (ConversationMessageRow | NoteRow)[]): Promise<ConversationMessage[]> => {
      const shown = await messages(all.filter((row) => "direction" in row));
      const byId = new Map(shown.map((one) => [one.id, one]));
      return all.flatMap((row) => ("direction" in row ? (byId.get(row._id) ?? []) : noteEntry(row)));
    },
    conversations: async (app: AppRow, rows: readonly ConversationRow[]): Promise<Conversation[]> => {
      const lastIds = rows.flatMap(({ last_message_id: id }) => id ?? []);
      const [last, people] = await Promise.all([
        deps.messagesOf(lastIds).then(messages),
        deps.subscriptionsOf([...new Set(rows.map((row) => row.subscription_id))]),
      ]);
      const lastById = new Map(last.map((one) => [one.id, one]));
      const peopleById = new Map(people.map((one) => [one._id, one]));
      return rows.map((row) =>
        conversationView(row, {
          last: lastById.get(row.last_message_id ?? "") ?? null,
          person: peopleById.get(row.subscription_id) ?? null,
          isConfigured: app.channels[row.channel] !== undefined,
          now: deps.clock.now(),
        }),
      );
    },
  };
};

type About = {
  last: ConversationMessage | null;
  person: SubscriptionRow | null;
  isConfigured: boolean;
  now: Date;
};

const conversationView = (row: ConversationRow, { last, person, isConfigured, now }: About): Conversation =>
  showAs(Conversation, {
    ...row,
    id: row._id,
    last_message: last,
    session: sessionOf(row, person, now),
    can_reply: canReply(person, { isConfigured, now }),
  });

/** SMS and RCS have no end. */
const sessionOf = (
  { channel, session_origin: origin }: ConversationRow,
  person: SubscriptionRow | null,
  now: Date,
): Conversation["session"] => {
  if (channel !== "whatsapp") return { open: true, expires_at: null, origin: null };
  const end = person?.session_expires_at ?? null;
  return {
    open: isSessionOpen(end, now),
    expires_at: end?.toISOString() ?? null,
    origin: end === null ? null : origin,
  };
};

export const noteView = (row: NoteRow): ConversationNote => showAs(ConversationNote, { ...row, id: row._id });

/** A note as it stands among messages. */
const noteEntry = (row: NoteRow): ConversationMessage =>
  showAs(ConversationMessage, { ...row, id: row._id, direction: "outbound", type: "note", cc: [], media: [] });

/** The delivery of a reply; undefined for what a person wrote. */
const deliveryOf = ({ message_id: id, subscription_id }: ConversationMessageRow): string | undefined =>
  id === undefined ? undefined : deliveryIdOf(id, subscription_id);

const messageView = async (
  deps: ViewDeps,
  row: ConversationMessageRow,
  delivery: DeliveryRow | null,
): Promise<ConversationMessage> =>
  showAs(ConversationMessage, {
    ...row,
    id: row._id,
    mentions: [],
    cc: row.cc ?? [],
    media: await Promise.all((row.media ?? []).map((one) => mediaView(deps, row, one))),
    order: orderView(row.order),
    reaction: row.reaction && { emoji: row.reaction.emoji },
    ...(row.direction === "inbound" ? { status: "received" as const } : outboundOf(row, delivery)),
  });

type Outbound = Pick<ConversationMessage, "status" | "error"> & {
  provider?: string | undefined;
  provider_message_id?: string | undefined;
  sms_segments?: number | undefined;
  sent_at?: Date | undefined;
  delivered_at?: Date | undefined;
  read_at?: Date | undefined;
};

/** A reply waits until it has a delivery, unless it was never accepted. */
const outboundOf = ({ unsent }: ConversationMessageRow, delivery: DeliveryRow | null): Outbound => {
  if (delivery === null)
    return unsent === true ? { status: "failed", error: notAccepted } : { status: "queued", error: null };
  const { provider, provider_message_id, sms_segments, sent_at, delivered_at, opened_at: read_at } = delivery;
  const status = statusOf(delivery);
  return {
    status,
    error: status === "failed" ? errorOf(delivery) : null,
    provider,
    provider_message_id,
    sms_segments,
    sent_at,
    delivered_at,
    read_at,
  };
};

const statusOf = ({ status, delivered_at, opened_at, clicked_at }: DeliveryRow): ConversationMessage["status"] => {
  if (opened_at !== undefined || clicked_at !== undefined) return "read";
  if (delivered_at !== undefined) return "delivered";
  if (status === "sent") return "sent";
  return isFailedReply(status) ? "failed" : "queued";
};

const errorOf = (delivery: DeliveryRow): ConversationMessage["error"] => ({
  code: delivery.error_code ?? (delivery.suppression_reason ?? delivery.status).toUpperCase(),
  message: delivery.error_message ?? null,
  provider_code: delivery.provider_code ?? null,
});

/** For how long the address of a file is good. */
const addressMs = hourMs;

const mediaView = async (
  { files, clock }: ViewDeps,
  row: ConversationMessageRow,
  { type, status, problem, filename, mime_type, size_bytes, sha256, key, link }: MediaRow,
): Promise<ConversationMedia> => {
  const contentType = mime_type ?? "application/octet-stream";
  const fileName = filename ?? key?.split("/").at(-1) ?? row._id;
  const expiresAt = new Date(clock.now().getTime() + addressMs);
  const isThere = status === "stored" && key !== undefined && files.kind !== "none";
  return {
    type,
    status,
    problem: problem ?? null,
    url: link !== undefined ? link : isThere ? await files.addressOf(key, { fileName, contentType, expiresAt }) : null,
    filename,
    mime_type,
    size_bytes: size_bytes ?? null,
    sha256: sha256 ?? null,
  };
};
