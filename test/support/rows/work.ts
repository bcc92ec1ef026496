import { derivedId } from "#core/domain/ids.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { ChunkRow } from "#core/storage/messages/chunks.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import { noWork } from "#core/storage/work/due.ts";
import type { Attempt } from "../../../dispatcher/messages/delivery/delivery-row.ts";
import type { Lease } from "../../../dispatcher/work/lease.ts";
import type { Suspensions } from "../../../dispatcher/work/suspensions.ts";
import { aSubscription as aStoredSubscription } from "./fixtures.ts";

/** The instant at which the builders' things were made. */
export const noon = new Date("2026-03-01T12:00:00Z");

export const aSubscription = (change: Partial<SubscriptionRow> = {}): SubscriptionRow =>
  aStoredSubscription({
    _id: "sub_1",
    tenant_id: "ten_1",
    app_id: "app_1",
    user_id: "usr_1",
    token: "a".repeat(64),
    last_active_at: noon,
    created_at: noon,
    updated_at: noon,
    ...change,
  });

export const aMessage = (change: Partial<MessageRow> = {}): MessageRow => ({
  ...noWork,
  _id: "msg_1",
  tenant_id: "ten_1",
  app_id: "app_1",
  plan: "free",
  source: "api",
  status: "processing",
  fingerprint: "f",
  accepted: { recipients_estimate: 1, external_id_missing: [] },
  name: null,
  labels: [],
  category: null,
  content: { contents: { en: "Hello" } },
  target: { all: true },
  channels: ["ios_push"],
  options: {},
  counts: {},
  requested_by: { type: "api_key", id: "key_1" },
  error: null,
  reserved: null,
  planned: false,
  scheduled_for: null,
  started_at: noon,
  completed_at: null,
  created_at: noon,
  updated_at: noon,
  outbox: [],
  traceparent: null,
  fence: 1,
  ...change,
});

export const aChunk = (change: Partial<ChunkRow> = {}): ChunkRow => ({
  ...noWork,
  _id: derivedId("chunk", "msg_1", "0"),
  message_id: "msg_1",
  tenant_id: "ten_1",
  app_id: "app_1",
  plan: "free",
  channel: "ios_push",
  position: 0,
  status: "open",
  recipients: ["sub_1"],
  scanned: null,
  parent_id: null,
  attempt: 0,
  may_overlap: false,
  may_have_arrived: false,
  dispatched_at: null,
  created_at: noon,
  fence: 1,
  ...change,
});

export const anAttempt = (change: Partial<Attempt> = {}): Attempt => ({
  deliveryId: "dlv_1",
  chunk: aChunk(),
  subscription: aSubscription(),
  provider: "apns",
  now: noon,
  expiresAt: new Date(noon.getTime() + 3_600_000),
  isReplaceable: false,
  ...change,
});

export const anApp = (change: Partial<AppRow> = {}): AppRow => ({
  _id: "app_1",
  tenant_id: "ten_1",
  name: "shop",
  time_zone: "UTC",
  idempotency_mismatch: "replay",
  channels: {},
  channels_revision: 1,
  managed: null,
  created_at: noon,
  updated_at: noon,
  ...change,
});

/** No tenant is suspended, but those that are named. */
export const suspensionsOf = (...suspended: readonly string[]): Suspensions => ({
  has: (tenantId) => suspended.includes(tenantId),
  during: (_, work) => work(new AbortController().signal),
  defer: (_, giveBack) => giveBack(new Date(noon.getTime() + 60_000)),
  onResume: () => undefined,
});

/** A lease that is never lost, or as the test says. */
export const aLease = (change: Partial<Lease> = {}): Lease => ({ isLost: () => false, isOver: () => false, ...change });

/** A clock that tests move by hand. */
export const handClock = (start = noon) => {
  let now = start;
  return {
    now: () => now,
    tick: (ms: number) => {
      now = new Date(now.getTime() + ms);
    },
  };
};
