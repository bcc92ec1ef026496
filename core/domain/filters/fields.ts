import { createHash } from "node:crypto";
import { customEventLimits } from "../../schema/events/custom.ts";
import { channels, isPhone } from "../../schema/vocabulary/channels.ts";
import { phoneCountry } from "../people/phone-country.ts";
import type { KindName } from "./kinds.ts";
import { factsOf, type Subject } from "./subject.ts";

/** Where a field is stored, for a query; a field that is made of several members has none. */
export type Stored = { of: "users" | "subscriptions"; path: string; isNeverNull?: true; aliasLabel?: string };

/** What is wrong with a value; `at` is where in it. */
export type ValueProblem = { at: string; message: string };

/** Something of a person or a subscription that a condition can ask about. */
export type Field = {
  kind: KindName;
  /** A filter that asks about subscriptions is judged for each of them. */
  level: "user" | "subscription";
  /** Undefined and null: it is absent. */
  read: (subject: Subject) => unknown;
  stored: Stored | null;
  /** The members of documents that `read` looks at. */
  reads: Reads;
  /** The only values of a `choice`. */
  values?: readonly string[];
  /** It is not read of the person, but of what is stored of them elsewhere. */
  isFact?: true;
  /** What a condition with `performed` counts. */
  history?: History;
};

/** Custom events of a name, or messages that got so far. */
export type History = { of: "events"; name: string } | { of: "messages"; name: MessageStep };

export const messageSteps = ["received", "opened", "clicked"] as const;
export type MessageStep = (typeof messageSteps)[number];

/** Members of people and of subscriptions, as they are stored. */
export type Reads = { users: readonly string[]; subscriptions: readonly string[] };

const readsNothing: Reads = { users: [], subscriptions: [] };

/** The field that a condition names; null when there is none. */
export const fieldNamed = (name: string): Field | null => {
  const fixed = fixedFields.get(name);
  if (fixed !== undefined) return fixed;
  const dot = name.indexOf(".");
  return families.get(name.slice(0, dot))?.(name.slice(dot + 1)) ?? null;
};

/** A member of a person as it is stored under its name. */
const ofPerson = (kind: KindName, path: string, read: Field["read"]): Field => ({
  kind,
  level: "user",
  read,
  stored: { of: "users", path },
  reads: { users: [topOf(path)], subscriptions: [] },
});

/** What a path begins with: a whole member is read. */
const topOf = (path: string): string => path.split(".", 1)[0] ?? path;

const ofSubscription = (kind: KindName, path: string, read: Field["read"]): Field => ({
  kind,
  level: "subscription",
  read,
  stored: { of: "subscriptions", path, ...(path.includes(".") ? {} : { isNeverNull: true }) },
  reads: { users: [], subscriptions: [topOf(path)] },
});

const ofDevice = (kind: KindName, member: string): Field =>
  ofSubscription(kind, `device.${member}`, ({ subscription }) => subscription && own(subscription.device, member));

const own = (of: unknown, name: string): unknown =>
  typeof of === "object" && of !== null && !Array.isArray(of) && Object.hasOwn(of, name)
    ? (of as Record<string, unknown>)[name] // sound: it was just found
    : undefined;

const alias = (label: string, read: Field["read"]): Field => ({
  ...ofPerson("text", label === "external_id" ? label : `aliases.${label}`, read),
  stored: { of: "users", path: label === "external_id" ? label : `aliases.${label}`, aliasLabel: label },
});

/** 0 to 99 by the person's id: the same always, and for every filter. */
const bucketOf = (id: string): number => createHash("sha256").update(id).digest().readUInt32BE(0) % 100;

const domainOf = (address: string): string => address.slice(address.lastIndexOf("@") + 1);

const countryOf = ({ subscription }: Subject): string | null =>
  subscription !== null && isPhone(subscription.channel) ? phoneCountry(subscription.token) : null;

const ofAddress: Reads = { users: [], subscriptions: ["channel", "token"] };

/** How often somebody did something: what a condition asks of it says which of it counts. */
const historyOf = (history: History): Field => ({
  kind: "history",
  level: "user",
  read: () => undefined,
  stored: null,
  reads: readsNothing,
  isFact: true,
  history,
});

/** The fields with names of their own. */
export const fixedFields: ReadonlyMap<string, Field> = new Map<string, Field>([
  ["user_id", ofPerson("text", "_id", ({ person }) => person._id)],
  ["external_id", alias("external_id", ({ person }) => person.external_id)],
  ["language", ofPerson("text without case", "language", ({ person }) => person.language)],
  ["country", ofPerson("text without case", "country", ({ person }) => person.country)],
  ["first_seen_at", ofPerson("date", "first_seen_at", ({ person }) => person.first_seen_at)],
  ["last_active_at", ofPerson("date", "last_active_at", ({ person }) => person.last_active_at)],
  ["created_at", ofPerson("date", "created_at", ({ person }) => person.created_at)],
  [
    "session_count",
    { ...ofPerson("number", "session_count", ({ person }) => person.session_count ?? 0), stored: null },
  ],
  ["session_time", ofPerson("number", "session_time", ({ person }) => person.session_time)],
  ["amount_spent", ofPerson("number", "amount_spent", ({ person }) => person.amount_spent)],
  ["location", ofPerson("place", "location", ({ person }) => person.location)],
  ["segment", { kind: "segment", level: "user", read: () => undefined, stored: null, reads: readsNothing }],
  [
    "random",
    { kind: "number", level: "user", read: ({ person }) => bucketOf(person._id), stored: null, reads: readsNothing },
  ],
  [
    "timezone",
    {
      kind: "text",
      level: "subscription",
      read: ({ person, subscription }) => subscription && (own(subscription.device, "timezone") ?? person.time_zone),
      stored: null,
      reads: { users: ["time_zone"], subscriptions: ["device"] },
    },
  ],
  [
    "channel",
    { ...ofSubscription("choice", "channel", ({ subscription }) => subscription?.channel), values: channels },
  ],
  [
    "subscription.status",
    {
      ...ofSubscription("choice", "status", ({ subscription }) => subscription?.status),
      values: ["subscribed", "unsubscribed", "invalid"],
    },
  ],
  ["subscription.test_device", ofSubscription("flag", "test_device", ({ subscription }) => subscription?.test_device)],
  ["subscription.created_at", ofSubscription("date", "created_at", ({ subscription }) => subscription?.created_at)],
  ["device.model", ofDevice("text", "model")],
  ["device.os_version", ofDevice("version", "os_version")],
  ["device.app_version", ofDevice("version", "app_version")],
  ["device.locale", ofDevice("text", "locale")],
  ["sdk_version", ofDevice("version", "sdk")],
  [
    "email.domain",
    {
      kind: "text without case",
      level: "subscription",
      read: ({ subscription }) => (subscription?.channel === "email" ? domainOf(subscription.token) : undefined),
      stored: null,
      reads: ofAddress,
    },
  ],
  [
    "phone.country",
    { kind: "text without case", level: "subscription", read: countryOf, stored: null, reads: ofAddress },
  ],
  [
    "suppressed",
    {
      kind: "flag",
      level: "subscription",
      read: (subject) => subject.subscription && factsOf(subject).isSuppressed(subject.subscription),
      stored: null,
      reads: { users: [], subscriptions: [...ofAddress.subscriptions, "external_id"] },
      isFact: true,
    },
  ],
  ...messageSteps.map((name): [string, Field] => [`messages.${name}`, historyOf({ of: "messages", name })]),
]);

/** A name of a tag or property that the store takes: no dot, and no `$` first. */
const memberName = /^[^.$\0][^.\0]{0,127}$/;

const families: ReadonlyMap<string, (rest: string) => Field | null> = new Map([
  ["tags", (name: string) => (memberName.test(name) ? tag(name) : null)],
  ["properties", (path: string) => (isPath(path) ? property(path) : null)],
  ["aliases", (label: string) => (/^[a-z0-9_]{1,64}$/.test(label) ? aliasCalled(label) : null)],
  ["events", (name: string) => (eventName.test(name) ? historyOf({ of: "events", name }) : null)],
]);

/** A name that custom events can have. Source: docs/reference/events.md#custom-events. */
const eventName = new RegExp(`^(?!hs\\.)\\S(?:.{0,${customEventLimits.nameCharacters - 2}}\\S)?$`, "u");

/** Fields of which a person has as many as they like, as the reference writes them. */
export const fieldFamilies = ["tags.<name>", "properties.<path>", "aliases.<label>", "events.<name>"] as const;

const tag = (name: string): Field => ofPerson("tag", `tags.${name}`, ({ person }) => own(person.tags, name));

const aliasCalled = (label: string): Field => alias(label, ({ person }) => own(person.aliases, label));

const deepest = 10; // names in the path of a property

const isPath = (path: string): boolean => {
  const names = path.split(".", deepest + 1);
  return names.length <= deepest && names.every((name) => memberName.test(name));
};

const property = (path: string): Field => {
  const names = path.split(".");
  return ofPerson("json", `properties.${path}`, ({ person }) => {
    let value: unknown = person.properties;
    for (const name of names) value = own(value, name);
    return value;
  });
};
