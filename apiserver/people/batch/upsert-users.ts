import { mapBounded } from "#core/runtime/batching/bounded.ts";
import type { UpsertedUser } from "#core/schema/people/batch.ts";
import type { UpsertUser } from "#core/schema/people/user.ts";
import type { UserWanted, Written } from "../upsert-user.ts";
import { groupsOf } from "./groups.ts";
import { type Item, judge, type UserBatch } from "./item.ts";
import { type KnownDeps, knownOf } from "./known.ts";
import { type Outcomes, outcomesOf } from "./outcomes.ts";
import { type SubscriberBudgetDeps, subscriberBudget } from "./subscriber-budget.ts";
import { type WriteDeps, writeTogether } from "./write.ts";

export type UpsertUsersDeps = KnownDeps &
  SubscriberBudgetDeps &
  WriteDeps & {
    /** Writes one user as `POST …/users` does. */
    upsertOne: (wanted: UserWanted) => Promise<Written>;
  };

const groupsAtOnce = 8; // each writes one user after another

/**
 * Makes or updates up to 1,000 users. What is wrong with one stops no other. Most are written together, in a few commands: those
 * of whom no other item says anything, and who have no subscription that the app knows. The others are written one by one, in
 * the order of their items where these name the same user or address; so are those that others wrote at the same moment.
 * Can be repeated.
 */
export const upsertUsers =
  (deps: UpsertUsersDeps) =>
  async (batch: UserBatch): Promise<UpsertedUser[]> => {
    const outcomes = outcomesOf(batch.users.length);
    const judged = batch.users.flatMap((given, index) => outcomes.valueOf(index, () => judge(given, index, batch)));
    const known = await knownOf(deps, batch.app, judged);
    const budget = await subscriberBudget(deps, batch.caller, known);
    const items = judged.flatMap((item) => outcomes.valueOf(item.index, () => budget.reserve(item)));
    const groups = groupsOf(items);
    const alone = groups.flatMap(([first, ...others]) => (first === undefined || others.length > 0 ? [] : [first]));
    const left = await writeTogether(deps, batch, { items: alone, known, outcomes });
    const inOrder = [...left.map((item) => [item]), ...groups.filter(({ length }) => length > 1)];
    await mapBounded(inOrder, groupsAtOnce, (group) => writeOneByOne(deps, batch, group, outcomes));
    return outcomes.all();
  };

const writeOneByOne = async (
  { upsertOne }: UpsertUsersDeps,
  { caller, app }: UserBatch,
  group: readonly Item[],
  outcomes: Outcomes,
): Promise<void> => {
  for (const { index, body, id } of group)
    await outcomes.settle(index, async () => {
      const { user, isNew } = await upsertOne({ caller, app, body: body satisfies UpsertUser, id });
      return { id: user._id, created: isNew };
    });
};
