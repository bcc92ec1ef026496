type Status = "subscribed" | "unsubscribed" | "invalid";

/** Since when an address is gone; when its person, or the address, last came back. */
export type CameAndWent = { invalid_since?: Date | null; resubscribed_at?: Date | null };

/** What a change of a subscription's status writes besides, for those who count who came and went. */
export const cameAndWent = (before: Status, after: Status, at: Date): CameAndWent => {
  if (before === after) return {};
  if (after === "invalid") return { invalid_since: at };
  return {
    ...(before === "invalid" && { invalid_since: null }),
    ...(after === "subscribed" && { resubscribed_at: at }),
  };
};
