import type { Filter } from "mongodb";
import { maskAddress } from "#core/channels/addresses.ts";
import { defined } from "#core/domain/defined.ts";
import { pagesOf } from "#core/storage/exports/pages.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { type SubscriptionRow, subscriptionCollection } from "#core/storage/people/subscription-row.ts";
import type { ExportSource } from "./type.ts";

/** Tokens are masked: whoever has one could send to its device. */
export const subscriptions: ExportSource<SubscriptionRow> = {
  columns: [
    { name: "id", of: (row) => row._id },
    { name: "user_id", of: (row) => row.user_id },
    { name: "external_id", of: (row) => row.external_id },
    { name: "channel", of: (row) => row.channel },
    { name: "status", of: (row) => row.status },
    { name: "token_masked", of: (row) => maskAddress(row.channel, row.token) },
    { name: "device", of: (row) => row.device },
    { name: "test_device", of: (row) => row.test_device },
    { name: "last_active_at", of: (row) => row.last_active_at },
    { name: "unsubscribed_at", of: (row) => row.unsubscribed_at },
    { name: "created_at", of: (row) => row.created_at },
  ],
  pages: (db, of, { channel, status }) =>
    pagesOf(collectionOf<SubscriptionRow>(db, subscriptionCollection), of, {
      kind: "subscription",
      hint: "app",
      filter: defined({ channel, status }) as Filter<SubscriptionRow>, // sound: the request's status was checked
      members: [
        "user_id",
        "external_id",
        "channel",
        "status",
        "token",
        "device",
        "test_device",
        "last_active_at",
        "unsubscribed_at",
        "created_at",
      ],
    }),
};
