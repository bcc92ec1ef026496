/** A filter, and who of the people below passes it. */
export type Case = { it: string; filter: object; passes: readonly string[] };

export const now = new Date("2026-06-15T12:00:00Z");

const common = {
  aliases: {},
  time_zone: null,
  first_seen_at: new Date("2026-01-01T00:00:00Z"),
  created_at: new Date("2026-01-01T00:00:00Z"),
};

/** People by name: Ada has everything, Bob other values, Cy nothing. */
export const people = {
  ada: {
    ...common,
    _id: "usr_ada",
    external_id: "ada",
    aliases: { crm: "7" },
    tags: { plan: "gold", age: "31", seen: "1781524740" },
    properties: { cart: { total: 10 }, likes: ["tea", 7], empty: null },
    language: "pt-BR",
    country: "DE",
    last_active_at: new Date("2026-06-15T11:30:00Z"),
    session_count: 12,
  },
  bob: {
    ...common,
    _id: "usr_bob",
    external_id: null,
    tags: { plan: "Gold", age: "9", seen: "soon" },
    properties: { cart: { total: "10" }, likes: "teapot" },
    language: "en",
    country: null,
    last_active_at: new Date("2026-06-01T00:00:00Z"),
  },
  cy: {
    ...common,
    _id: "usr_cy",
    external_id: null,
    tags: {},
    properties: {},
    language: null,
    country: null,
    last_active_at: new Date("2026-06-15T12:30:00Z"),
  },
} as const;

const one = (field: string, op: string, value?: unknown) => ({
  all: [{ field, op, ...(value !== undefined && { value }) }],
});

export const cases: readonly Case[] = [
  { it: "an empty all is everyone", filter: { all: [] }, passes: ["ada", "bob", "cy"] },
  { it: "an empty any is nobody", filter: { any: [] }, passes: [] },
  { it: "an empty none is everyone", filter: { none: [] }, passes: ["ada", "bob", "cy"] },
  { it: "texts have their case", filter: one("tags.plan", "eq", "gold"), passes: ["ada"] },
  { it: "neq is true for what is absent", filter: one("tags.plan", "neq", "gold"), passes: ["bob", "cy"] },
  { it: "tags are ordered as numbers", filter: one("tags.age", "gt", 9), passes: ["ada"] },
  { it: "a tag equals a number that is written otherwise", filter: one("tags.age", "eq", "9.0"), passes: ["bob"] },
  { it: "between has both ends", filter: one("tags.age", "between", [9, 31]), passes: ["ada", "bob"] },
  { it: "not_in is true for what is absent", filter: one("tags.plan", "not_in", ["gold"]), passes: ["bob", "cy"] },
  { it: "properties keep their types", filter: one("properties.cart.total", "eq", 10), passes: ["ada"] },
  { it: "a text is no number to compare", filter: one("properties.cart.total", "gte", 1), passes: ["ada"] },
  { it: "contains finds items and parts", filter: one("properties.likes", "contains", "tea"), passes: ["ada", "bob"] },
  { it: "null is absent", filter: one("properties.empty", "exists"), passes: [] },
  { it: "not_exists is true for null", filter: one("properties.empty", "not_exists"), passes: ["ada", "bob", "cy"] },
  { it: "languages have no case", filter: one("language", "eq", "PT-br"), passes: ["ada"] },
  { it: "countries have no case", filter: one("country", "in", ["de"]), passes: ["ada"] },
  { it: "aliases are found", filter: one("aliases.crm", "eq", "7"), passes: ["ada"] },
  {
    it: "within_last ends now",
    filter: one("last_active_at", "within_last", { amount: 1, unit: "hours" }),
    passes: ["ada"],
  },
  {
    it: "not_within_last has what lies ahead",
    filter: one("last_active_at", "not_within_last", { amount: 1, unit: "hours" }),
    passes: ["bob", "cy"],
  },
  { it: "after takes now", filter: one("last_active_at", "after", "now"), passes: ["cy"] },
  { it: "time passes since a tag's instant", filter: one("tags.seen", "time_elapsed_gt", 30), passes: ["ada"] },
  { it: "sessions that are not known are none", filter: one("session_count", "lt", 1), passes: ["bob", "cy"] },
  { it: "names of prototypes are absent", filter: one("tags.__proto__", "exists"), passes: [] },
  { it: "constructors are absent", filter: one("properties.constructor.name", "exists"), passes: [] },
  {
    it: "none is true when no member is",
    filter: {
      none: [
        { field: "tags.plan", op: "exists" },
        { field: "country", op: "exists" },
      ],
    },
    passes: ["cy"],
  },
  {
    it: "groups are nested",
    filter: { any: [one("country", "eq", "DE"), { all: [one("tags.age", "lt", 10), one("language", "eq", "en")] }] },
    passes: ["ada", "bob"],
  },
];

const device = { status: "subscribed", test_device: false, created_at: new Date("2026-01-01T00:00:00Z"), device: {} };

/** Subscriptions by name. */
export const subscriptions = {
  phone: { ...device, channel: "ios_push", token: "ab", device: { os_version: "1.10", timezone: "Asia/Tokyo" } },
  tablet: { ...device, channel: "android_push", token: "cd", device: { os_version: "1.9" }, test_device: true },
  text: { ...device, channel: "sms", token: "+4915112345678" },
  chat: { ...device, channel: "whatsapp", token: "+14155552671", status: "unsubscribed" },
  mail: { ...device, channel: "email", token: "cy@Example.com", created_at: new Date("2026-06-15T11:00:00Z") },
} as const;

/** What a condition says of each of them. */
export const ofSubscriptions: readonly { it: string; condition: object; passes: readonly string[] }[] = [
  {
    it: "a number's country is found on each channel of numbers, and has no case",
    condition: { field: "phone.country", op: "in", value: ["de", "US"] },
    passes: ["text", "chat"],
  },
  {
    it: "what has no number has no country",
    condition: { field: "phone.country", op: "not_exists" },
    passes: ["phone", "tablet", "mail"],
  },
  {
    it: "domains of mail addresses have no case",
    condition: { field: "email.domain", op: "eq", value: "example.COM" },
    passes: ["mail"],
  },
  {
    it: "versions are ordered by their parts",
    condition: { field: "device.os_version", op: "gt", value: "1.9" },
    passes: ["phone"],
  },
  {
    it: "channels are told apart",
    condition: { field: "channel", op: "not_in", value: ["ios_push", "sms"] },
    passes: ["tablet", "chat", "mail"],
  },
  {
    it: "statuses are told apart",
    condition: { field: "subscription.status", op: "neq", value: "subscribed" },
    passes: ["chat"],
  },
  {
    it: "test devices are found",
    condition: { field: "subscription.test_device", op: "eq", value: true },
    passes: ["tablet"],
  },
  {
    it: "a subscription is as old as it is itself",
    condition: { field: "subscription.created_at", op: "within_last", value: { amount: 1, unit: "days" } },
    passes: ["mail"],
  },
  {
    it: "the zone is the device's, else the person's",
    condition: { field: "timezone", op: "eq", value: "Asia/Tokyo" },
    passes: ["phone"],
  },
];
