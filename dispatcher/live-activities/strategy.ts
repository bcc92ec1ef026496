import type { MessageActivity } from "#core/storage/messages/message-row.ts";
import type { Strategy } from "../messages/strategy.ts";
import { activityRecipientsOf, afterActivity } from "./recipients.ts";
import type { ActivityDeliverDeps } from "./sorting.ts";
import { type ActivityTurnDeps, activityTurn, sendInOrder } from "./turn.ts";

export type ActivityStrategyDeps = ActivityDeliverDeps &
  ActivityTurnDeps & {
    activityAudience: (of: Parameters<Strategy["audienceOf"]>[0], live: MessageActivity) => Promise<string[]>;
  };

/**
 * How starts, updates and ends of live activities are sent: to the devices that the activity is on, over its own tokens,
 * and in the order in which they were accepted.
 */
export const activityStrategy = (deps: ActivityStrategyDeps): Strategy => ({
  audienceOf: async (of, { live_activity: live }) => (live === undefined ? [] : deps.activityAudience(of, live)),
  turn: activityTurn(deps),
  send: sendInOrder(deps.inOrder),
  recipientsOf: activityRecipientsOf(deps),
  after: afterActivity(deps),
});
