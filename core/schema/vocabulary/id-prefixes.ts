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
  eventDefinition: "evd",
  conversion: "cvn",
  batch: "bat",
  recovery: "rec",
  reply: "rpl",
  webhook: "whk",
  webhookDelivery: "whd",
  liveActivityType: "lat",
  suppression: "sup",
  export: "exp",
  import: "imp",
} as const;

export type IdKind = keyof typeof idPrefixes;
