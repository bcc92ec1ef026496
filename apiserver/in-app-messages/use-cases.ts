import { hash } from "node:crypto";
import type { Db } from "mongodb";
import { AppError } from "#core/errors.ts";
import type { KeyRing } from "#core/runtime/process/key-ring.ts";
import { inAppBounds } from "#core/schema/in-app-messages/content.ts";
import type { InAppMessageCounts } from "#core/schema/in-app-messages/device.ts";
import {
  type CreateInAppMessage,
  type InAppMessage,
  type InAppMessageListQuery,
  inAppPaging,
  type UpdateInAppMessage,
} from "#core/schema/in-app-messages/in-app-message.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { checkInApp, inAppMembers, inAppTargetOf, newInAppMembers } from "#core/storage/in-app-messages/check.ts";
import { inAppCounts } from "#core/storage/in-app-messages/counts.ts";
import { inAppEvents } from "#core/storage/in-app-messages/events.ts";
import { inAppFor } from "#core/storage/in-app-messages/for-device.ts";
import {
  type InAppMessageRow,
  type InAppMessages,
  inAppMessages,
} from "#core/storage/in-app-messages/in-app-messages.ts";
import { ofApp, ofRow } from "#core/storage/mongo/collection.ts";
import type { SortPosition } from "#core/storage/mongo/page-range.ts";
import { filterFacts } from "#core/storage/segments/facts.ts";
import { appSegments, segmentCollection } from "#core/storage/segments/segments.ts";
import { type Cursors, type Page, readPage } from "../http/pages.ts";
import { quotaExceeded } from "../limits/quota-exceeded.ts";
import type { EventStore } from "../publishing/event-store.ts";
import type { By } from "../settings/audit.ts";
import { newSetting, type SettingsPlatform, settings } from "../settings/settings.ts";
import { laterThan } from "../settings/write-as-is.ts";
import { deviceInApp } from "./device.ts";
import { countsView, inAppMessageView } from "./views.ts";

export type InAppPlatform = SettingsPlatform & {
  db: Db;
  cursors: Cursors;
  secrets: Pick<KeyRing, "seal" | "open">;
  events: Pick<EventStore, "keep">;
};

export type InAppUse = ReturnType<typeof inAppUseCases>;

/** What the operations on in-app messages do. Source: docs/reference/in-app-messages.md. */
export const inAppUseCases = (platform: InAppPlatform) => {
  const { db, clock, cursors, events } = platform;
  const counts = inAppCounts(db, clock);
  const store = activeWithinBounds(inAppMessages(db));
  const targetOf = inAppTargetOf({ segments: appSegments(db) });
  const kept = settings(platform, {
    what: "in-app message",
    store,
    view: inAppMessageView,
    report: reported,
    plan: { metric: "in_app_messages", most: inAppBounds.messages },
    taken: async (row: InAppMessageRow) => taken((await store.named(row.app_id, row.name))?._id ?? null),
  });
  /** What names these segments is another now: whoever shows that hears of it. */
  const announceNamed = (appId: string, segmentIds: readonly string[]): void => {
    for (const id of new Set(segmentIds)) platform.nats.changed(segmentCollection.name, id, appId);
  };
  return {
    ...kept,
    page: listInAppMessages(store, cursors),
    ofDevices: deviceInApp({
      messagesFor: inAppFor(db, filterFacts(platform)),
      counts,
      happened: inAppEvents(db),
      keep: events.keep,
      clock,
    }),

    counts: async (row: InAppMessageRow): Promise<InAppMessageCounts> =>
      countsView(row, await counts.read(ofRow(row), row._id)),

    check: (body: CreateInAppMessage): void => checkInApp(newInAppMembers(body)),

    create: async (by: By, app: AppRow, id: string, body: CreateInAppMessage): Promise<InAppMessageRow> => {
      const target = await targetOf(app._id, body.target ?? {});
      const row = { ...newSetting(app, id, clock.now()), ...newInAppMembers(body), ...target };
      const made = await kept.create(by, row);
      announceNamed(made.app_id, made.segment_ids);
      return made;
    },

    update: async (by: By, found: InAppMessageRow, body: UpdateInAppMessage): Promise<InAppMessageRow> => {
      const { app_id: appId } = found;
      const target = body.target === undefined ? {} : await targetOf(appId, body.target);
      const set = { ...inAppMembers(body), ...target };
      const changed = await kept.change(by, "updated", found, (row) => {
        checkInApp({ ...row, ...set });
        return { set };
      });
      announceNamed(appId, [...found.segment_ids, ...changed.segment_ids]);
      return changed;
    },

    remove: async (by: By, found: InAppMessageRow): Promise<void> => {
      await kept.remove(by, found);
      announceNamed(found.app_id, found.segment_ids);
    },
  };
};

/** Another message of the app has the name. */
const taken = (id: string | null): AppError =>
  new AppError("HS_ALREADY_EXISTS", "the app has an in-app message of this name", { field: "name", id });

/**
 * Writes first and counts then, as the number of all is kept: of two that are made active at once and pass the number by that,
 * at least the one that counts last is taken back.
 */
const activeWithinBounds = (store: InAppMessages): InAppMessages => ({
  ...store,

  insert: async (row) => {
    if (!(await store.insert(row))) return false;
    if (await isBeyond(store, row)) {
      await store.takeBack(row);
      throw tooManyActive();
    }
    return true;
  },

  change: async (read, change) => {
    const written = await store.change(read, change);
    if (written === null || written === "taken" || read.status === "active") return written;
    if (!(await isBeyond(store, written))) return written;
    const { _id, ...before } = read;
    await store.change(written, { set: { ...before, updated_at: laterThan(written.updated_at, read.updated_at) } });
    throw tooManyActive();
  },
});

const isBeyond = async (
  { countOtherActive }: Pick<InAppMessages, "countOtherActive">,
  { app_id, _id, status }: InAppMessageRow,
): Promise<boolean> => status === "active" && (await countOtherActive(app_id, _id)) >= inAppBounds.active;

const tooManyActive = (): AppError => {
  const limit = inAppBounds.active;
  return quotaExceeded(`an app may have ${limit} active in-app messages`, {
    metric: "active_in_app_messages",
    limit,
    used: limit,
    needed: 1,
  });
};

const listInAppMessages =
  (store: Pick<InAppMessages, "page">, cursors: Cursors) =>
  (app: AppRow, query: InAppMessageListQuery): Promise<Page<InAppMessage>> =>
    readPage<InAppMessageRow, InAppMessage, SortPosition>({
      cursors,
      paging: inAppPaging,
      list: `in-app-messages/${app._id}`,
      query,
      read: (place) => store.page(ofApp(app), place),
      positionOf: (row, sort) => ({ value: sort === "name" ? row.name : row.created_at, id: row._id }),
      view: inAppMessageView,
    });

/** An event is no place for all languages: it shows a hash of what the message says. */
const reported = (row: InAppMessageRow): object => {
  const { variants, ...shown } = inAppMessageView(row);
  return { ...shown, variants_sha256: hash("sha256", JSON.stringify(variants)) };
};
