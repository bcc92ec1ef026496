/** So many calls in so many seconds; `burst` is how many may come at once, all of them when left out. */
export type Allowance = { calls: number; seconds: number; burst?: number };

/**
 * The rates of single operations, by the names that a 429 gives them. `of` says in Markdown what they count.
 * docs/reference/limits.md#narrow-rates is made of them.
 */
export const narrowRates = {
  "notifications.create": {
    of: "`POST /v1/notifications` of an app; `apiRps` of the plan where that is more",
    calls: 100,
    seconds: 1,
  },
  "notifications.estimate": {
    of: "`POST /v1/notifications/estimate` of an app, with `…/why/summary` of those that exclude segments",
    calls: 10,
    seconds: 1,
  },
  "notifications.validate": { of: "`POST /v1/notifications/validate` of an app", calls: 10, seconds: 1 },
  "notifications.why": { of: "`GET …/notifications/{messageId}/why` of an app", calls: 50, seconds: 1 },
  "subscriptions.write": {
    of: "changes of one subscription, by its id, or by its token where it is registered; also by `subscriptions` of `POST …/users` and `…/users/batch`",
    calls: 1,
    seconds: 1,
    burst: 10,
  },
  "analytics.read": { of: "`GET …/analytics/…` of an app", calls: 5, seconds: 1 },
  "analytics.count": {
    of: "`GET …/analytics/retention`, `…/audience` and `…/outcomes` of an app, where that has people counted",
    calls: 60,
    seconds: 3_600,
    burst: 20,
  },
  "analytics.recount": { of: "`POST …/analytics/recount` of an app", calls: 10, seconds: 60 },
  "sdk.subscription": { of: "requests of one device, by its subscription", calls: 1, seconds: 1, burst: 10 },
  "sdk.auth": { of: "registrations of an app's devices from one address", calls: 5, seconds: 1, burst: 10 },
  "sdk.sessions": { of: "`POST /sdk/v1/sessions` of one device, by its subscription", calls: 1, seconds: 60 },
  "users.data": { of: "`GET …/users/by/{label}/{id}/data` of an app", calls: 5, seconds: 300 },
  "channels.test": { of: "`POST …/channels/{channel}/test` of a channel of an app", calls: 10, seconds: 60 },
  "webhooks.test": { of: "`POST …/test` of a webhook", calls: 10, seconds: 60 },
  "webhooks.rotate_secret": { of: "`POST …/rotate-secret` of a webhook", calls: 10, seconds: 60 },
  "webhooks.preview": { of: "`POST …/webhooks/preview` of an app", calls: 10, seconds: 60 },
  "webhooks.replay": { of: "`POST …/webhooks/deliveries/{deliveryId}/replay` of an app", calls: 60, seconds: 60 },
  "segments.preview": { of: "`POST …/segments/preview` of an app", calls: 10, seconds: 60 },
  "warehouse.test": {
    of: "tests of destinations of warehouse exports of an app, also by `POST` and `PATCH` of them",
    calls: 10,
    seconds: 60,
  },
  "warehouse.backfill": { of: "`POST …/backfill` of a warehouse export", calls: 10, seconds: 60 },
  "exports.create": { of: "new exports of an app", calls: 10, seconds: 60 },
  "exports.history": { of: "new exports of `…/history` of an app", calls: 10, seconds: 60 },
  "exports.events": { of: "`POST …/export_events` of an app", calls: 10, seconds: 60 },
  "imports.create": { of: "`POST …/imports` of an app; one that is refused does not count", calls: 10, seconds: 60 },
} as const satisfies Record<string, Allowance & { of: string }>;

export type RateName = keyof typeof narrowRates;
