import { type Static, Type } from "typebox";
import { Closed } from "../json/common.ts";
import { named } from "../json/named.ts";
import { LiveActivityToken } from "./requests.ts";

const { Enum, Optional, String: Text } = Type;

const { token } = LiveActivityToken.properties;
const ownId = Optional(Text({ minLength: 1, maxLength: 64, description: "the device's own; every other is 404" }));

/** Body of `PUT /sdk/v1/live-activities/{activityType}/push-to-start-token`. */
export const SetStartToken = Closed({
  subscription_id: ownId,
  token,
  environment: Optional(
    Enum(["production", "sandbox"], { description: "of APNs, in which the token is: that of the app's account" }),
  ),
});
export type SetStartToken = Static<typeof SetStartToken>;

/** Body of `PUT /sdk/v1/live-activities/activities/{activityId}/token`. */
export const SetActivityToken = Closed({
  subscription_id: ownId,
  token,
  activity_type: Optional(
    Text({ minLength: 1, maxLength: 128, description: "id or name of the activity's type; another one is 404" }),
  ),
  state: Optional(
    Enum(["active", "stale", "ended", "dismissed"], {
      description: "as ActivityKit says; default active. ended and dismissed: it is not on the device any more",
    }),
  ),
});
export type SetActivityToken = Static<typeof SetActivityToken>;

/** Body of both `DELETE`s. */
export const ForgetToken = Closed({ subscription_id: ownId });
export type ForgetToken = Static<typeof ForgetToken>;

named({ SetStartToken, SetActivityToken, ForgetToken });
