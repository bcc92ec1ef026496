/** Prefix of every id, by the kind of thing it names. */
export const idPrefixes = {
  tenant: "ten",
  app: "app",
  apiKey: "key",
  user: "usr",
  subscription: "sub",
  message: "msg",
  chunk: "chk",
  delivery: "dlv",
  event: "evt",
  eventBatch: "evb",
  batch: "bat",
  recovery: "rec",
  reply: "rpl",
  webhook: "whk",
  webhookDelivery: "whd",
  liveActivity: "act",
  liveActivityChannel: "lac",
  liveActivityRecipient: "lar",
  liveActivityToken: "ltk",
  liveActivityType: "lat",
  suppression: "sup",
} as const;

export type IdKind = keyof typeof idPrefixes;
