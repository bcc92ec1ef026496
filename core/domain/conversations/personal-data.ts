import type { ConversationMessage } from "../../schema/conversations/message.ts";
import { type DocumentOf, showAs } from "../../schema/json/show.ts";
import {
  type PersonalData,
  StoredConversation,
  StoredFile,
  StoredMessage,
  StoredNote,
} from "../../schema/people/data.ts";

type Row<Shown> = Omit<Shown, "id"> & { _id: string };

type Talk = Row<DocumentOf<typeof StoredConversation>>;
type Message = Omit<Row<DocumentOf<typeof StoredMessage>>, "media" | "order" | "cc"> & {
  media?: File[];
  order?: Order;
  cc?: string[];
};
type File = Omit<DocumentOf<typeof StoredFile>, "url"> & { link?: string };
type Order = {
  catalogId: string | null;
  items: { productId: string; quantity: number; price: number | null; currency: string | null }[];
};

/** A conversation, as the data of its person shows it. Source: docs/reference/people.md#personal-data. */
export const conversationOfPerson = (row: Talk): PersonalData["conversations"][number] =>
  showAs(StoredConversation, { ...row, id: row._id });

/** A message of theirs, or one that they were answered with. */
export const messageOfPerson = ({
  media = [],
  order,
  ...row
}: Message): PersonalData["conversation_messages"][number] =>
  showAs(StoredMessage, {
    ...row,
    id: row._id,
    cc: row.cc ?? [],
    ...(row.reaction && { reaction: { emoji: row.reaction.emoji } }),
    order: orderView(order),
    media: filesOf(media),
  });

/** What was noted about them. */
export const noteOfPerson = (row: Row<DocumentOf<typeof StoredNote>>): PersonalData["conversation_notes"][number] =>
  showAs(StoredNote, { ...row, id: row._id });

/** Files of a message, without addresses of ours: these end after an hour. */
export const filesOf = (media: readonly File[]): PersonalData["conversation_messages"][number]["media"] =>
  media.map(({ link, ...file }) => showAs(StoredFile, { ...file, url: link }));

/** What was ordered, as it is shown. */
export const orderView = (order: Order | undefined): ConversationMessage["order"] =>
  order === undefined
    ? null
    : {
        catalog_id: order.catalogId,
        items: order.items.map(({ productId: product_id, ...item }) => ({ product_id, ...item })),
      };
