import { fieldNamed } from "#core/domain/filters/fields.ts";
import { kinds } from "#core/domain/filters/kinds.ts";
import type { FilteredPerson, FilteredSubscription } from "#core/domain/filters/subject.ts";
import { channels } from "#core/schema/vocabulary/channels.ts";

/** Numbers from 0 to below 1 that follow from a seed (mulberry32). */
export const seeded = (seed: number) => {
  let state = seed;
  return (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
};

/** The instant that random filters are judged at; the instants of people are about it. */
export const now = new Date("2026-06-15T12:00:00Z");

const texts = ["", "0", "1", "1.0", "1e3", "1000", "007", "de", "DE", "gold", "Gold", "pt-BR", "1.10", "1.9", "true"];

/** Makes filters, people and subscriptions in which values often meet. */
export const randomly = (random: () => number) => {
  const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T; // sound: below its length
  const filled = () => pick(texts.slice(1));
  const instant = () => new Date(now.getTime() + pick([-8_640_000_000, -7_200_000, -3_600_000, -1, 0, 1, 3_600_000]));
  const value = () =>
    pick<unknown>([...texts, 0, 1, 1_000, true, false, null, [], ["gold", 1, null], [null], { b: "gold" }]);
  const place = () => ({
    lat: pick([-90, -89.999, -0.5, 0, 0.001, 52.52, 52.6, 89.9, 90]),
    long: pick([-180, -179.99, -0.01, 0, 13.405, 13.5, 90, 179.99, 180]),
  });
  const map = <T>(names: readonly string[], of: () => T): Record<string, T> =>
    Object.fromEntries(names.filter(() => random() < 0.6).map((name) => [name, of()]));

  const person = (n: number): FilteredPerson & { alias_keys: string[]; app_id: string } => {
    const aliases = map(["crm", "shop"], filled);
    const externalId = random() < 0.5 ? filled() : null;
    const all = { ...aliases, ...(externalId !== null && { external_id: externalId }) };
    return {
      _id: `usr_${n}`,
      app_id: `app_${n}`, // aliases are unique within an app
      external_id: externalId,
      aliases,
      alias_keys: Object.entries(all).map(([label, id]) => `${label}:${id}`),
      tags: map(["a", "b", "constructor"], filled),
      properties: {
        ...map(["a", "b"], value),
        ...(random() < 0.4 && { deep: { a: value() } }),
        ...(random() < 0.2 && { deep: [{ a: "gold" }] }),
      },
      language: pick([null, "pt-BR", "de", "DE"]),
      time_zone: pick([null, "Europe/Berlin"]),
      country: pick([null, "DE", "AT"]),
      first_seen_at: instant(),
      last_active_at: instant(),
      created_at: instant(),
      ...(random() < 0.5 && { session_count: pick([0, 1, 1_000]) }),
      ...(random() < 0.5 && { session_time: pick([null, 0, 50, 1_000]) }),
      ...(random() < 0.5 && { amount_spent: pick([0, 0.5, 1_000]) }),
      ...(random() < 0.8 && { location: random() < 0.1 ? null : place() }),
    };
  };

  const subscription = (n: number): FilteredSubscription & { _id: string; app_id: string; user_id: string } => ({
    _id: `sub_${n}`,
    app_id: `app_${n}`,
    user_id: `usr_${n}`,
    ...addressed(pick(channels), n),
    status: pick(["subscribed", "unsubscribed", "invalid"]),
    test_device: random() < 0.5,
    device: map(["model", "os_version", "app_version", "timezone", "sdk", "locale"], filled),
    created_at: instant(),
  });

  const addressed = (channel: string, n: number): { channel: string; token: string } => ({
    channel,
    token: /^(sms|whatsapp|rcs)$/.test(channel)
      ? pick(["+4915112345678", "+14155552671", "+14165552671", "+870773111632"])
      : `${n}@Example.org`,
  });

  const performed = (isOfEvents: boolean): unknown => {
    const details = [
      { property: "a", op: "eq", value: "gold" },
      { property: "b", op: "gt", value: 1 },
    ];
    return pick<unknown>([
      undefined,
      {},
      { count: { op: pick(["eq", "gt", "gte", "lte"]), value: pick([1, 2, 3]) } },
      { within_days: 7, count: { op: "lt", value: 3 } },
      { where: isOfEvents ? details : [{ property: "channel", op: "in", value: ["email", "sms"] }] },
    ]);
  };

  const operand = (kind: keyof typeof kinds, values: readonly string[] | undefined): unknown => {
    if (values !== undefined) return pick(values);
    switch (kind) {
      case "number":
        return pick([0, 1, 50, 1_000]);
      case "place":
        return { ...place(), radius_m: pick([1, 1_500, 12_000, 150_000, 500_000]) };
      case "flag":
        return random() < 0.5;
      case "date":
        return instant().toISOString();
      case "version":
        return pick(["1.10", "1.9", "1", "1.0"]);
      case "tag":
      case "json":
        return pick<unknown>([...texts, 0, 1, 1_000, true]);
      case "text":
      case "text without case":
      case "choice":
      case "segment":
      case "history":
        return filled();
    }
  };

  const ordered = (kind: keyof typeof kinds, values: readonly string[] | undefined): unknown =>
    kind === "tag" || kind === "json" ? pick([0, 1, 7, 1_000]) : operand(kind, values);

  const condition = (name: string = pick(fieldNames), given?: string): object => {
    const { kind, values } = fieldNamed(name) ?? { kind: "text" as const, values: undefined };
    const op = given ?? pick<string>(kinds[kind].ops);
    const one = () => operand(kind, values);
    const valueOf = (): unknown => {
      if (op.endsWith("exists")) return undefined;
      if (op.endsWith("performed")) return performed(name.startsWith("events."));
      if (op.endsWith("within_last")) return { amount: pick([1, 2, 100]), unit: pick(["minutes", "hours", "days"]) };
      if (op.startsWith("time_elapsed")) return pick([0, 60, 1e9]);
      if (op === "in" || op === "not_in") return [one(), one(), one()];
      if (op === "between") return [ordered(kind, values), ordered(kind, values)].sort(byRank(kind));
      if (/contains|with$/.test(op)) return filled();
      if (op === "before" || op === "after") return pick(["now", instant().toISOString()]);
      return /^(gt|lt)/.test(op) ? ordered(kind, values) : one();
    };
    const found = valueOf();
    return { field: name, op, ...(found !== undefined && { value: found }) };
  };

  const filter = (depth = 1): object => ({
    [pick(["all", "all", "any", "none"])]: Array.from({ length: Math.floor(random() * 4) }, () =>
      depth < 4 && random() < 0.3 ? filter(depth + 1) : condition(),
    ),
  });

  return { person, subscription, condition, filter };
};

const byRank = (kind: keyof typeof kinds) => (a: unknown, b: unknown) => {
  const rank = (kinds[kind] as { rank?: (value: unknown) => string | number | null }).rank; // sound: a member of kinds
  const [x, y] = [rank?.(a) ?? 0, rank?.(b) ?? 0];
  return x < y ? -1 : x > y ? 1 : 0;
};

/** Fields of every kind, also ones that nobody has. */
export const fieldNames = [
  "tags.a",
  "tags.b",
  "tags.constructor",
  "tags.none",
  "properties.a",
  "properties.b",
  "properties.deep.a",
  "properties.none",
  "aliases.crm",
  "aliases.none",
  "external_id",
  "user_id",
  "language",
  "country",
  "first_seen_at",
  "last_active_at",
  "created_at",
  "session_count",
  "session_time",
  "amount_spent",
  "location",
  "random",
  "timezone",
  "channel",
  "subscription.status",
  "subscription.test_device",
  "subscription.created_at",
  "device.model",
  "device.os_version",
  "device.app_version",
  "device.locale",
  "sdk_version",
  "email.domain",
  "phone.country",
  "suppressed",
  "events.bought",
  "messages.received",
  "messages.opened",
  "messages.clicked",
];
