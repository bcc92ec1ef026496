import { invalid, NotFound } from "#core/errors.ts";
import type { SetActivityToken, SetStartToken } from "#core/schema/live-activities/device-tokens.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { Activities } from "#core/storage/live-activities/activities.ts";
import type { ActivityRecipients } from "#core/storage/live-activities/recipients.ts";
import type { StartTokens } from "#core/storage/live-activities/start-tokens.ts";
import { ofRow } from "#core/storage/mongo/collection.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import { putToken, type TokenDeps } from "./tokens.ts";

export type DeviceTokenDeps = TokenDeps & {
  startTokens: Pick<StartTokens, "forget">;
  activities: Pick<Activities, "find">;
  recipients: Pick<ActivityRecipients, "of" | "lose">;
};

/** What devices say of live activities. Source: docs/reference/devices.md#live-activities. */
export const activityTokens = (deps: DeviceTokenDeps) => {
  const put = putToken(deps);
  const forget = async (own: SubscriptionRow, activityId: string): Promise<void> => {
    requirePhone(own);
    const activity = await deps.activities.find(ofRow(own), activityId);
    if (activity === null) throw new NotFound("live activity");
    const known = (await deps.recipients.of(activity._id, [own._id])).get(own._id);
    if (typeof known?.token !== "string") return;
    await deps.recipients.lose(activity._id, [{ subscriptionId: own._id, token: known.token }], deps.clock.now());
  };
  return {
    setStart: async (app: AppRow, own: SubscriptionRow, type: string, body: SetStartToken): Promise<void> => {
      requirePhone(own);
      const account = app.channels.ios_push?.environment;
      if (body.environment !== undefined && account !== undefined && body.environment !== account)
        throw invalid("environment", `the app's account is of ${account}`);
      await put(own, { kind: "start", activity_type: type, token: body.token });
    },

    forgetStart: async (own: SubscriptionRow, idOrName: string): Promise<void> => {
      requirePhone(own);
      const type = await deps.findType(ofRow(own), idOrName);
      if (type === null) throw new NotFound("live activity type");
      await deps.startTokens.forget(type._id, own._id);
    },

    /** An activity that is over on the device needs no updates there. */
    set: async (own: SubscriptionRow, activityId: string, body: SetActivityToken): Promise<void> => {
      requirePhone(own);
      const { token, activity_type: type, state = "active" } = body;
      if (type !== undefined) await requireType(deps, own, { activityId, type });
      if (state === "ended" || state === "dismissed") return forget(own, activityId);
      await put(own, { kind: "update", activity_id: activityId, token });
    },

    forget,
  };
};

const requirePhone = ({ channel }: SubscriptionRow): void => {
  if (channel !== "ios_push") throw invalid("token", "is only of devices of iOS", { channel });
};

const requireType = async (
  { activities, findType }: DeviceTokenDeps,
  own: SubscriptionRow,
  { activityId, type }: { activityId: string; type: string },
): Promise<void> => {
  const [activity, wanted] = await Promise.all([activities.find(ofRow(own), activityId), findType(ofRow(own), type)]);
  if (activity === null || wanted?._id !== activity.type_id) throw new NotFound("live activity");
};
