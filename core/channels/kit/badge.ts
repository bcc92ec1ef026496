import type { Content } from "../../schema/messages/notification.ts";
import type { BadgeChange } from "./channel.ts";

/** What a message does to the badge of an app's icon; null when it stays. */
export const badgeChangeOf = ({
  ios_badge_type: type = "SetTo",
  ios_badge_count: count,
}: Content): BadgeChange | null => {
  if (type === "Increase") return { add: count ?? 1 };
  return type === "None" || count === undefined ? null : { set: count };
};
