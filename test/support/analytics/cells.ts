import type { Db } from "mongodb";
import type { Cell, QuarterCounts } from "#core/domain/analytics/tables.ts";
import { deliveryCounters } from "#core/storage/analytics/delivery-counters.ts";
import { quarterOf } from "#core/storage/analytics/due-quarters.ts";
import { type AppRow } from "#core/storage/apps/apps.ts";
import { ofApp } from "#core/storage/mongo/collection.ts";
import { noCounts } from "./counters.ts";

const names = { template_id: null, campaign_id: null, category: null, provider: null } as const;

/** A cell of mails that are no part of anything. */
export const cell = (change: Partial<Cell>): Cell => ({
  channel: "email",
  source: "api",
  ...names,
  counts: {},
  ...change,
});

/** Keeps what an app's deliveries of a quarter of an hour came to. */
export const keepCounts = (db: Db, app: AppRow, atMs: number, counts: Partial<QuarterCounts>): Promise<void> =>
  deliveryCounters(db).keep(ofApp(app), quarterOf(new Date(atMs)), { ...noCounts, ...counts, at: new Date() });
