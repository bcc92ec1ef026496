import type { EventEnvelope } from "../../schema/events/envelope.ts";

/** Most keys of one event. */
const mostKeys = 4_000;

/**
 * Keys of the people that an event is about, each once: our ids (`usr_…`; `sub_…` of a message's target, or where no user
 * is named), and `<label>:<id>` for ids that the app gave (`external_id:…` and aliases), mail addresses (`email:…`) and
 * phone numbers (`phone:…`).
 */
export const peopleOf = ({ subject_id: subject, data }: Pick<EventEnvelope, "subject_id" | "data">): string[] => {
  const shapes = [data, ...objectsOf(data["subscriptions"])];
  const keys = [
    ...[subject, ...shapes.flatMap(idsOf)].filter(isUserId),
    ...shapes.flatMap(({ external_id: id }) => named("external_id", [id])),
    ...(isUserId(data["user_id"]) ? [] : textsOf([data["subscription_id"]])),
    ...targetKeys(data["target"]),
  ];
  return [...new Set(keys)].slice(0, mostKeys);
};

/** The key of an id that is not ours. Mail addresses are compared without regard to case. */
export const personKey = (label: string, id: string): string => `${label}:${label === "email" ? id.toLowerCase() : id}`;

const idsOf = ({ id, user_id: user, merged_user_id: merged }: Shape): unknown[] => [id, user, merged];

const isUserId = (id: unknown): id is string => typeof id === "string" && id.startsWith("usr_");

/** Keys of the people that a message's target names. */
const targetKeys = (given: unknown): string[] =>
  objectsOf([given]).flatMap((target) => [
    ...named("external_id", target["include_external_ids"]),
    ...objectsOf([target["include_aliases"]]).flatMap((aliases) => Object.entries(aliases).flatMap(aliasKeys)),
    ...textsOf(target["include_subscription_ids"]),
    ...named("email", target["email_to"]),
    ...named("phone", target["include_phone_numbers"]),
  ]);

const aliasKeys = ([label, ids]: [string, unknown]): string[] =>
  label === "user_id" ? textsOf(ids) : named(label, ids);

const named = (label: string, ids: unknown): string[] => textsOf(ids).map((id) => personKey(label, id));

type Shape = Record<string, unknown>;

const textsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : [];

const objectsOf = (value: unknown): Shape[] =>
  Array.isArray(value) ? value.filter((item): item is Shape => typeof item === "object" && item !== null) : [];
