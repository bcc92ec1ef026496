import type { Db } from "mongodb";
import type { Partitioning } from "../../domain/webhooks/partitions.ts";
import { type AppRow, appCollection } from "../apps/apps.ts";
import { collectionOf } from "../mongo/collection.ts";
import { type WebhookRow, webhookCollection } from "./webhooks.ts";

/** An app with so many endpoints is spread over four partitions, so that four dispatchers can serve those that follow. */
export const spreadFrom = 50;

export type EndpointPlaces = ReturnType<typeof endpointPlaces>;

/** Places new endpoints in partitions. */
export const endpointPlaces = (db: Db, { placeOf }: Pick<Partitioning, "placeOf">) => {
  const apps = collectionOf<AppRow>(db, appCollection);
  const webhooks = collectionOf<WebhookRow>(db, webhookCollection);
  const hasMany = async (appId: string): Promise<boolean> =>
    (await webhooks.find({ app_id: appId }, { projection: { _id: 1 }, hint: "app", limit: spreadFrom }).toArray())
      .length === spreadFrom;
  return {
    /**
     * What the document of an endpoint that is about to be made says of its partition. Its app is spread first where that
     * is due: publishers that do not know it yet still reach the endpoint, through the store.
     */
    place: async (app: Pick<AppRow, "_id" | "webhook_spread">, id: string): Promise<Pick<WebhookRow, "partition">> => {
      const isSpread = app.webhook_spread === 4 || (await hasMany(app._id));
      if (!isSpread) return {};
      if (app.webhook_spread !== 4) await apps.updateOne({ _id: app._id }, { $set: { webhook_spread: 4 } });
      return { partition: placeOf({ _id: id, app_id: app._id }, 4) };
    },
  };
};

/** Over how many partitions an app is spread, for publishers; one while the store is away. */
export const spreadIn =
  (directory: { app: (id: string) => Promise<AppRow | null> }) =>
  async (appId: string): Promise<1 | 4> => {
    const app = await directory.app(appId).catch(() => null);
    return app?.webhook_spread ?? 1;
  };
