import { ask } from "../http.ts";
import { pushOf } from "../push-of.ts";
import { store } from "../store.ts";
import { waitMs } from "./spread.ts";

/** What a push of Herald's holds. Source: docs/payloads.md#web-push. */
type Payload = {
  message_id?: string;
  delivery_id?: string;
  title?: string;
  body?: string;
  icon?: string;
  image?: string;
  badge?: string;
  tag?: string;
  url?: string;
  data?: unknown;
  require_interaction?: boolean;
  report_within_s?: number;
  actions?: { action: string; title: string; icon?: string; url?: string }[];
  notification?: { navigate: string; actions?: { action: string; navigate: string }[] };
};

type Kept = Pick<Payload, "message_id" | "delivery_id" | "url" | "data" | "actions"> & {
  herald: true;
  navigate: string | undefined;
  counted: { action: string; navigate: string }[];
};

export type WorkerOptions = {
  /** Whether a push that is not Herald's is left to the site's own code; shown all the same when left out. */
  leavesOthers?: boolean;
};

/**
 * Shows pushes, reports that they came and follows clicks, in a worker of its own or in the site's. Each push shows exactly one
 * notification, also one that cannot be read: browsers take the consent away of who shows nothing.
 * @example heraldWorker(self);
 */
export const heraldWorker = (self: ServiceWorkerGlobalScope, { leavesOthers = false }: WorkerOptions = {}): void => {
  self.addEventListener("push", (event) => {
    const payload = read(event.data);
    if (payload?.delivery_id === undefined && leavesOthers) return;
    event.waitUntil(show(self, payload).then(() => received(payload)));
  });
  self.addEventListener("notificationclick", (event) => {
    const kept = keptIn(event.notification);
    if (kept === null) return;
    event.notification.close();
    event.waitUntil(follow(self, kept, event.action));
  });
  self.addEventListener("pushsubscriptionchange", (event) => event.waitUntil(renew(self, event)));
};

const read = (data: PushMessageData | null): Payload | null => {
  try {
    const value: unknown = data?.json();
    return typeof value === "object" && value !== null ? value : null;
  } catch {
    return null;
  }
};

const show = async (self: ServiceWorkerGlobalScope, payload: Payload | null): Promise<void> => {
  const { title, body, icon, image, badge, tag, actions, require_interaction: stays, notification } = payload ?? {};
  const { message_id, delivery_id, url, data } = payload ?? {};
  const counted = notification?.actions ?? [];
  const kept = { herald: true, message_id, delivery_id, url, data, actions, navigate: notification?.navigate, counted };
  const options = {
    body: title ? body : undefined,
    icon,
    image,
    badge,
    tag,
    actions,
    data: kept,
    requireInteraction: stays === true,
  };
  const head = title || body || self.location.host;
  // what a browser does not take of a payload must not keep it from being shown
  await self.registration
    .showNotification(head, JSON.parse(JSON.stringify(options)) as NotificationOptions)
    .catch(() => self.registration.showNotification(head, { data: kept }));
};

/** Tells the service that a message came, of a message to many some time later. A report that is lost is lost. */
const received = async (payload: Payload | null): Promise<void> => {
  const { message_id, delivery_id, report_within_s: withinS = 0 } = payload ?? {};
  if (!message_id || !delivery_id) return;
  const receipt = { type: "received", message_id, delivery_id, occurred_at: new Date().toISOString() };
  await new Promise((resolve) => setTimeout(resolve, waitMs(withinS, Math.random())));
  for (const install of await store.installs().catch(() => []))
    if (install.secret !== null)
      await ask(install, "receipts", { method: "POST", body: { receipts: [receipt] } }).catch(() => null);
};

const keptIn = ({ data }: Notification): Kept | null =>
  (data as Kept | null)?.herald === true ? (data as Kept) : null;

/** A counted address tells the service of the click by itself. */
const follow = async (self: ServiceWorkerGlobalScope, kept: Kept, action: string): Promise<void> => {
  const own = kept.actions?.find((one) => one.action === action)?.url;
  const counted = kept.counted.find((one) => one.action === action)?.navigate ?? kept.navigate;
  const address = counted ?? own ?? kept.url ?? new URL("/", self.location.origin).href;
  if (/^https?:/i.test(address)) await self.clients.openWindow(address).catch(() => null);
};

/** Browsers may take a subscription away and give another one: the service gets to know of it. */
const renew = async (
  { registration }: ServiceWorkerGlobalScope,
  { newSubscription, oldSubscription }: PushSubscriptionChangeEvent,
): Promise<void> => {
  const key = oldSubscription?.options.applicationServerKey;
  const given = newSubscription ?? (key ? await registration.pushManager.subscribe(oldSubscription.options) : null);
  if (given === null) return;
  const push = pushOf(given);
  for (const install of await store.installs()) {
    const { subscriptionId, secret, token } = install;
    if (secret === null || subscriptionId === null || token !== oldSubscription?.endpoint) continue;
    await ask(install, `subscriptions/${subscriptionId}`, { method: "PATCH", body: push });
    await store.keep({ ...install, token: push.token });
  }
};
