import type { Clock } from "#core/domain/clock.ts";
import { mapBounded } from "#core/runtime/batching/bounded.ts";
import { ofApp } from "#core/storage/mongo/collection.ts";
import { blankUser } from "#core/storage/people/made.ts";
import type { ChangedUser, ManyPeople } from "#core/storage/people/many.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import { withCreated } from "#core/storage/people/subscriptions.ts";
import type { UserRow } from "#core/storage/people/users.ts";
import type { FollowStatus } from "../follow-status.ts";
import { madeSubscription } from "../register-subscription.ts";
import type { SubscriptionLimits } from "../subscription-limits.ts";
import { newUser, ownerOf } from "../upsert-user.ts";
import { changeOf } from "../user-change.ts";
import { addressKey, type Item, type UserBatch } from "./item.ts";
import type { Known } from "./known.ts";
import type { Outcomes } from "./outcomes.ts";

export type WriteDeps = {
  many: Pick<ManyPeople, "addUsers" | "addSubscriptions" | "changeUsers">;
  limits: Pick<SubscriptionLimits, "registration">;
  followStatus: FollowStatus;
  /** Publishes what is in an outbox, without being waited for. */
  publish: { user: (row: UserRow) => void; subscription: (row: SubscriptionRow) => void };
  clock: Clock;
};

/** Items of which each names nothing that another one names. */
type Together = { items: readonly Item[]; known: Known; outcomes: Outcomes };

/** Writes users in a few commands. Gives the items that have to be written one by one: nothing, or not all, of them is. */
export const writeTogether = async (deps: WriteDeps, batch: UserBatch, { items, known, outcomes }: Together) => {
  const now = deps.clock.now();
  const plans = items.flatMap((item) => outcomes.valueOf(item.index, () => planOf(batch, item, known, now)));
  const made = plans.filter((plan) => plan.kind === "make");
  const changed = plans.filter((plan) => plan.kind === "change");
  const left = [
    ...plans.filter(({ kind }) => kind === "alone").map(({ item }) => item),
    ...(await change(deps, changed, outcomes)),
    ...(await make(deps, made, outcomes)),
  ];
  return left;
};

type Make = { kind: "make"; item: Item; row: UserRow; subscriptions: readonly SubscriptionRow[] };
type Change = { kind: "change"; item: Item; change: ChangedUser };
type Plan = Make | Change | { kind: "alone"; item: Item };

/** @throws AppError for what the user, as they are, does not admit */
const planOf = ({ app }: UserBatch, item: Item, known: Known, now: Date): Plan => {
  const { body, keys, id, addressed } = item;
  const found = new Set(keys.map((key) => known.users.get(key)).filter((user) => user !== undefined));
  const owner = ownerOf([...found], body);
  const isKnown = addressed.some((one) => known.subscriptions.has(addressKey(one)));
  if (owner === null) {
    const row = newUser(blankUser(id, ofApp(app), now), body);
    const isTwice = new Set(addressed.map(addressKey)).size < addressed.length;
    if (isKnown || isTwice) return { kind: "alone", item };
    const subscriptions = addressed.map((one, i) => madeSubscription(row, one, body.subscriptions?.[i] ?? {}, now));
    return { kind: "make", item, row, subscriptions: subscriptions.map(withCreated) };
  }
  const { whole, update } = changeOf(owner, body, now);
  const isRenamed = whole.external_id !== owner.external_id; // their subscriptions repeat it
  if (isRenamed || addressed.length > 0) return { kind: "alone", item };
  return { kind: "change", item, change: { read: owner, update } };
};

const changesAtOnce = 100; // of one command: all of them are written one by one when others change one of the users

const change = async ({ many }: WriteDeps, changes: readonly Change[], outcomes: Outcomes): Promise<Item[]> => {
  const parts = partsOf(changes, changesAtOnce);
  const left = await mapBounded(parts, commandsAtOnce, async (part) => {
    if (!(await many.changeUsers(part.map((one) => one.change)))) return part.map(({ item }) => item);
    for (const one of part)
      outcomes.done(one.item.index, { id: one.change.read._id, created: one.change.read._id === one.item.id });
    return [];
  });
  return left.flat();
};

const madeAtOnce = 250;
const commandsAtOnce = 4; // the store works on each by one core

const make = async (deps: WriteDeps, made: readonly Make[], outcomes: Outcomes): Promise<Item[]> => {
  const left = await mapBounded(partsOf(made, madeAtOnce), commandsAtOnce, (part) => makePart(deps, part, outcomes));
  return left.flat();
};

const makePart = async (deps: WriteDeps, part: readonly Make[], outcomes: Outcomes): Promise<Item[]> => {
  const { many, publish } = deps;
  const allowed = await allowedOf(deps, part, outcomes);
  const refused = await many.addUsers(allowed.map(({ row }) => row));
  const stored = allowed.filter(({ row }) => !refused.has(row._id));
  for (const { row } of stored) publish.user(row);
  const taken = await many.addSubscriptions(stored.flatMap((one) => one.subscriptions));
  const isWhole = (one: Make): boolean => one.subscriptions.every(({ _id }) => !taken.has(_id));
  const whole = stored.filter(isWhole);
  for (const { item, row } of whole) outcomes.done(item.index, { id: row._id, created: true });
  await follow(deps, whole);
  return allowed.filter((one) => !whole.includes(one)).map(({ item }) => item);
};

/** Those of whose addresses none is registered too often. */
const allowedOf = async ({ limits }: WriteDeps, part: readonly Make[], outcomes: Outcomes): Promise<Make[]> => {
  const judged = await mapBounded(part, limitsAtOnce, async (one): Promise<Make[]> => {
    if (one.subscriptions.length === 0) return [one];
    return outcomes.valueWhen(one.item.index, async () => {
      for (const row of one.subscriptions) await limits.registration(row.app_id, row);
      return one;
    });
  });
  return judged.flat();
};

const limitsAtOnce = 50; // Redis answers them in one round

/** Publishes the events of new subscriptions, and has the suppression list follow the status that was given. */
const follow = async ({ publish, followStatus }: WriteDeps, made: readonly Make[]): Promise<void> => {
  const given = made.flatMap(({ subscriptions, item: { body } }) =>
    subscriptions.map((row, i) => ({ row, status: body.subscriptions?.[i]?.status })),
  );
  for (const { row } of given) publish.subscription(row);
  const said = given.filter(({ status }) => status !== undefined);
  await mapBounded(said, commandsAtOnce, ({ row, status }) => followStatus(row, status));
};

const partsOf = <T>(items: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, n) => items.slice(n * size, (n + 1) * size));
