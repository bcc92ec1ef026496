import { type Static, Type } from "typebox";
import { ChannelName, Closed } from "../json/common.ts";

/** When somebody is sent to over the next channel. Source: docs/reference/fallback.md#conditions. */
export const fallbackConditions = ["not_delivered", "not_opened", "not_clicked", "failed"] as const;
export type FallbackCondition = (typeof fallbackConditions)[number];

/** A channel that a message goes over next, to whom it did not reach before. Source: docs/reference/fallback.md. */
export const FallbackStep = Closed({
  channel: ChannelName,
  after_minutes: Type.Integer({
    minimum: 1,
    maximum: 10_080,
    description: "minutes from what was sent before until it is looked at; 10080 are 7 days",
  }),
  if: Type.Enum([...fallbackConditions], { description: "what has to be so by then" }),
});
export type FallbackStep = Static<typeof FallbackStep>;
