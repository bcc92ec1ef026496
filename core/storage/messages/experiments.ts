import type { Db } from "mongodb";
import type { Winner } from "../../schema/messages/winner.ts";
import { collectionOf, longAgo } from "../mongo/collection.ts";
import { anyText } from "../mongo/page-range.ts";
import { type ChunkRow, chunkCollection } from "./chunks.ts";
import { type DeliveryRow, deliveryCollection } from "./deliveries.ts";
import type { MessageRow, MessageWinner } from "./message-row.ts";
import { messageCollection } from "./messages.ts";

/** How many people were given a variant, were sent it, and did by then what is measured. */
export type VariantTally = { id: string; assigned: number; n: number; conversions: number };

export type Experiments = ReturnType<typeof experiments>;

/** What is stored of the search for the variant that most of an audience gets. */
export const experiments = (db: Db) => {
  const messages = collectionOf<MessageRow>(db, messageCollection);
  return {
    /** What the variants of a message came to until an instant. */
    tally: async (messageId: string, metric: Winner["metric"], at: Date): Promise<VariantTally[]> => {
      const by = (member: string) => ({ $sum: { $cond: [isUntil(member, at), 1, 0] } });
      const groups = await collectionOf<DeliveryRow>(db, deliveryCollection)
        .aggregate<Omit<VariantTally, "id"> & { _id: string }>([
          { $match: { message_id: messageId, position: anyText, variant_id: { $gt: "" } } },
          {
            $group: { _id: "$variant_id", assigned: { $sum: 1 }, n: by("sent_at"), conversions: by(instants[metric]) },
          },
        ])
        .toArray();
      return groups.map(({ _id: id, ...counts }) => ({ id, ...counts }));
    },

    /** Stores what was chosen, and has who waits for it sent to; false when another has decided. */
    decide: async (
      { _id }: Pick<MessageRow, "_id">,
      decision: Required<Pick<MessageWinner, "verdict" | "chosen" | "decided_at">>,
    ): Promise<boolean> => {
      const set = Object.fromEntries(Object.entries(decision).map(([name, value]) => [`winner.${name}`, value]));
      const open = { _id, status: "processing" as const, "winner.decided_at": { $exists: false } };
      const { matchedCount } = await messages.updateOne(open, { $set: { ...set, updated_at: decision.decided_at } });
      return matchedCount === 1;
    },

    /** Stores the weights of some steps, and what was chosen with the last; false when another has made one of them. */
    move: async (
      { _id }: Pick<MessageRow, "_id">,
      {
        steps,
        ...decision
      }: Pick<MessageWinner, "verdict" | "chosen" | "decided_at" | "p_srm"> & {
        steps: Record<string, number[]>;
      },
      now: Date,
    ): Promise<boolean> => {
      const made = Object.entries({ ...decision, ...prefixed("steps", steps) });
      const set = Object.fromEntries(made.map(([name, value]) => [`winner.${name}`, value]));
      const free = Object.keys(steps).map((step) => [`winner.steps.${step}`, { $exists: false }]);
      const open = { _id, status: "processing" as const, ...Object.fromEntries(free) };
      const { matchedCount } = await messages.updateOne(open, { $set: { ...set, updated_at: now } });
      return matchedCount === 1;
    },

    /** Has those who wait for what was chosen before its time sent to now. */
    hasten: async ({ _id, winner }: Pick<MessageRow, "_id" | "winner">, now: Date): Promise<void> => {
      const waiting = { message_id: _id, status: "scheduled" as const, scheduled_for: winner?.decides_at ?? now };
      await collectionOf<ChunkRow>(db, chunkCollection).updateMany(waiting, { $set: { scheduled_for: now } });
    },

    read: (id: string): Promise<MessageRow | null> => messages.findOne({ _id: id }),
  };
};

const prefixed = (name: string, values: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [`${name}.${key}`, value]));

const instants = { open_rate: "opened_at", click_rate: "clicked_at", conversion_rate: "converted_at" } as const;

const isUntil = (member: string, at: Date) => ({
  $and: [{ $gt: [`$${member}`, longAgo] }, { $lte: [`$${member}`, at] }],
});
