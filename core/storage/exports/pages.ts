import type { Collection, Db, Document, Filter } from "mongodb";
import type { IdKind } from "../../schema/vocabulary/id-prefixes.ts";
import { type DeliveryRow, deliveryCollection } from "../messages/deliveries.ts";
import type { MessageRow } from "../messages/message-row.ts";
import { messageCollection } from "../messages/messages.ts";
import { collectionOf, type OfApp } from "../mongo/collection.ts";
import { pageRange } from "../mongo/page-range.ts";

/** Rows in one page: some hundred KB, and a few ms of the server. Larger ones are no faster, and take more memory. */
export const exportPage = 500;

/** What is read: which rows, of which members, along which index. */
export type Reading<Row extends Document> = {
  kind: IdKind;
  hint: string;
  filter?: Filter<Row>;
  times?: { from?: Date | undefined; to?: Date | undefined };
  /** The members that columns show. */
  members: readonly (keyof Row & string)[];
};

/**
 * Reads the documents of an app in the order of their ids, page by page, each behind the last of the page before: what
 * is there from beginning to end is read once; what is made or removed meanwhile may be read or not.
 */
export async function* pagesOf<Row extends Document & { _id: string }>(
  rows: Collection<Row>,
  { tenantId, appId }: OfApp,
  { kind, hint, filter, times = {}, members }: Reading<Row>,
): AsyncGenerator<Row[]> {
  const projection = projectionOf(members);
  for (let after: string | null = null; ; ) {
    const place = pageRange(kind, times, { after, isDescending: false });
    const ofApp = { ...filter, app_id: appId, tenant_id: tenantId, _id: place } as unknown as Filter<Row>; // sound: rows of apps
    const cursor = rows.find<Row>(ofApp, { projection, hint, batchSize: exportPage + 1 });
    const page: Row[] = await cursor.sort({ _id: 1 }).limit(exportPage).toArray();
    if (page.length > 0) yield page;
    if (page.length < exportPage) return;
    after = page.at(-1)?._id ?? null;
  }
}

/** A delivery with the campaign of its message. */
export type OfCampaign = DeliveryRow & { campaign_id?: string };

export type DeliveryReading = {
  messageId?: string | undefined;
  /** Of messages of one campaign alone. */
  campaignId?: string | undefined;
  /** When the deliveries were made. */
  times: { from?: Date | undefined; to?: Date | undefined };
  filter: Filter<DeliveryRow>;
  members: readonly (keyof DeliveryRow)[];
};

const messagesAtOnce = 200; // in one $in

/** Reads the deliveries of a message, or of all messages of an app, message by message, each in the order of its list. */
export async function* deliveryPages(db: Db, of: OfApp, reading: DeliveryReading): AsyncGenerator<OfCampaign[]> {
  const rows = collectionOf<DeliveryRow>(db, deliveryCollection);
  for await (const found of messagePages(db, of, reading)) {
    const campaigns = new Map(found.map(({ _id, campaign_id }) => [_id, campaign_id]));
    const ids = found.map(({ _id }) => _id);
    for await (const page of deliveriesOf(rows, of, ids, reading)) yield page.map((row) => inCampaign(row, campaigns));
  }
}

const inCampaign = (row: DeliveryRow, campaigns: ReadonlyMap<string, string | undefined>): OfCampaign => {
  const campaign_id = campaigns.get(row.message_id);
  return campaign_id === undefined ? row : { ...row, campaign_id };
};

type Found = Pick<MessageRow, "_id" | "campaign_id">;

/** A message that was made later than the last delivery that is wanted has none of them. */
async function* messagePages(
  db: Db,
  { tenantId, appId }: OfApp,
  { messageId, campaignId, times }: DeliveryReading,
): AsyncGenerator<Found[]> {
  const messages = collectionOf<MessageRow>(db, messageCollection);
  const ofApp = { app_id: appId, tenant_id: tenantId, ...(campaignId !== undefined && { campaign_id: campaignId }) };
  const projection = { campaign_id: 1 } as const;
  if (messageId !== undefined) {
    yield await messages.find<Found>({ ...ofApp, _id: messageId }, { projection }).toArray();
    return;
  }
  const hint = campaignId === undefined ? "list" : "list_by_campaign";
  for (let after: string | null = null; ; ) {
    const _id = pageRange("message", { to: times.to }, { after, isDescending: false });
    const read = messages.find<Found>({ ...ofApp, _id }, { projection, hint, batchSize: messagesAtOnce + 1 });
    const found: Found[] = await read.sort({ _id: 1 }).limit(messagesAtOnce).toArray();
    if (found.length > 0) yield found;
    if (found.length < messagesAtOnce) return;
    after = found.at(-1)?._id ?? null;
  }
}

/** `ids` grow: so do the pages. The first of them may have been read up to `after`. */
async function* deliveriesOf(
  rows: Collection<DeliveryRow>,
  { tenantId }: OfApp,
  ids: readonly string[],
  { times, filter, members }: DeliveryReading,
): AsyncGenerator<DeliveryRow[]> {
  const projection = projectionOf([...members, "message_id", "position"]);
  const read = (message_id: string | { $in: string[] }, after: string | null): Promise<DeliveryRow[]> =>
    rows
      .find(
        { ...filter, message_id, position: positions(times, after), tenant_id: tenantId },
        { projection, hint: "list", batchSize: exportPage + 1 },
      )
      .sort({ message_id: 1, position: 1 })
      .limit(exportPage)
      .toArray();
  let left = ids;
  let after: string | null = null;
  while (left.length > 0) {
    const [first = ""] = left;
    const page: DeliveryRow[] = await (after === null ? read({ $in: [...left] }, null) : read(first, after));
    const last = page.at(-1);
    if (page.length > 0) yield page;
    if (last !== undefined && page.length === exportPage) {
      left = left.slice(left.indexOf(last.message_id));
      after = last.position;
    } else {
      left = after === null ? [] : left.slice(1);
      after = null;
    }
  }
}

const positions = (times: DeliveryReading["times"], after: string | null) =>
  pageRange(null, times, { after, isDescending: false });

const projectionOf = (members: readonly string[]): Record<string, 1> =>
  Object.fromEntries(["_id", ...members].map((member) => [member, 1 as const]));
