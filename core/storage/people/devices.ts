import { hash as hashOf, randomBytes } from "node:crypto";
import type { Collection, Db } from "mongodb";
import type { DeviceChannel } from "../../schema/devices/subscription.ts";
import type { Channel } from "../../schema/vocabulary/channels.ts";
import { collectionOf, type OfApp } from "../mongo/collection.ts";
import { askedTogether } from "./asked-together.ts";
import { changedTogether } from "./changed-together.ts";
import { subscriptionsNamed } from "./named.ts";
import { type SubscriptionRow, subscriptionCollection } from "./subscription-row.ts";
import { changeRead } from "./subscriptions.ts";

export type Devices = ReturnType<typeof devices>;

/** A secret of an installation: the text for the device, and what is stored of it. */
export const newSecret = (): { text: string; hash: string } => {
  const text = `sst_${randomBytes(32).toString("base64url")}`;
  return { text, hash: secretHash(text) };
};

/** Secrets are random, so a plain SHA-256 finds them; the secret itself is stored nowhere. */
export const secretHash = (text: string): string => hashOf("sha256", text, "hex");

/** Stands for the token of an installation that has none yet: unique, as tokens are, and no provider's. */
export const noToken = (installId: string): string => `install:${installId.toLowerCase()}`;

/** Stands for the token of a subscription whose device has registered anew. */
export const reassignedToken = (subscriptionId: string): string => `reassigned:${subscriptionId}`;

/** Whether a token is a device's, and not what stands for one. */
export const isToken = (token: string): boolean => !/^(install|reassigned):/.test(token);

/** Subscriptions as the devices that are behind them see them. */
export const devices = (db: Db) => {
  const rows = collectionOf<SubscriptionRow>(db, subscriptionCollection);
  return {
    ...finding(rows),

    /** Changes what neither ends a subscription nor gives it another token; null when it is no longer as it was read. */
    change: changedTogether(rows, ({ read, change }) => changeRead(rows, read.tenant_id, read, change)),

    /** By what at most 500 subscriptions prove themselves now, and whose they are. */
    proofs: async (ids: readonly string[]): Promise<Map<string, Proof>> => {
      const projection = { user_id: 1, "install.secret_hash": 1, unproven_since: 1 } as const;
      const found = await rows.find({ _id: { $in: [...ids] } }, { projection, batchSize: ids.length + 1 }).toArray();
      return new Map(found.map((row) => [row._id, proofOf(row)]));
    },

    /** Gives an installation another secret, while it is the one that was read; the one before ends. */
    rotate: (read: SubscriptionRow, change: Partial<SubscriptionRow>): Promise<SubscriptionRow | null> =>
      rows.findOneAndUpdate(
        { _id: read._id, token: read.token, tenant_id: read.tenant_id },
        { $set: change },
        { returnDocument: "after" },
      ),

    /** Notes that a device has proven to be a user's, if it is that user's by now: it proves nothing of another one. */
    prove: async ({ _id, tenant_id }: SubscriptionRow, userId: string): Promise<void> => {
      await rows.updateOne({ _id, tenant_id, user_id: userId }, { $unset: { unproven_since: "" } });
    },

    /** Notes that somebody was there. */
    seen: async ({ _id, tenant_id }: SubscriptionRow, at: Date): Promise<void> => {
      await rows.updateOne({ _id, tenant_id }, { $max: { last_active_at: at } });
    },

    /** Takes the token from a subscription, which is invalid from then on. False when it has another token meanwhile. */
    release: async ({ _id, tenant_id, token }: SubscriptionRow, now: Date): Promise<boolean> => {
      const change = {
        token: reassignedToken(_id),
        status: "invalid" as const,
        status_reason: "token_reassigned",
        invalid_since: now,
        updated_at: now,
      };
      const { matchedCount } = await rows.updateOne({ _id, tenant_id, token }, { $set: change });
      return matchedCount === 1;
    },
  };
};

/** `unprovenSince`: since when nothing but the device says whose it is; null where something proves it. */
export type Proof = { secretHash: string; userId: string; unprovenSince: Date | null };

const proofOf = ({
  user_id: userId,
  install,
  unproven_since: unprovenSince = null,
}: Pick<SubscriptionRow, "user_id" | "install" | "unproven_since">): Proof => ({
  secretHash: install?.secret_hash ?? "",
  userId,
  unprovenSince,
});

const finding = (rows: Collection<SubscriptionRow>) => {
  const bySecretHash = askedTogether({
    read: ({ tenantId, appId }, hashes) =>
      rows
        .find(
          { app_id: appId, "install.secret_hash": { $in: [...hashes], $gt: "" }, tenant_id: tenantId },
          { hint: "secret", batchSize: hashes.length + 1 },
        )
        .toArray(),
    keyOf: ({ install }) => install?.secret_hash ?? "",
  });
  const byPlace = askedTogether({
    read: async (of, places) => {
      const wanted = places.map((place) => JSON.parse(place) as [Channel, string]); // sound: of `placeOf`
      const byChannel = Map.groupBy(wanted, ([channel]) => channel);
      const found = [...byChannel].map(([channel, some]) =>
        subscriptionsNamed(rows, of, { channel, tokens: some.map(([, token]) => token) }),
      );
      return (await Promise.all(found)).flat();
    },
    keyOf: ({ channel, token }) => placeOf(channel, token),
  });
  return {
    /** The subscription whose installation has this secret. */
    bySecret: (of: OfApp, secret: string): Promise<SubscriptionRow | null> => bySecretHash(of, secretHash(secret)),

    /** The subscription of a token. */
    byToken: (of: OfApp, channel: Channel, token: string): Promise<SubscriptionRow | null> =>
      byPlace(of, placeOf(channel, token)),
  };
};

const placeOf = (channel: Channel, token: string): string => JSON.stringify([channel, token]);

/** Channels whose subscriptions are devices. */
export const isDevice = (row: SubscriptionRow): row is SubscriptionRow & { channel: DeviceChannel } =>
  row.channel.endsWith("_push");
