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
