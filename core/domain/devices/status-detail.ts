import { type CameAndWent, cameAndWent } from "../people/came-back.ts";

/** Errors of a device that pass: they never end a subscription. */
const passing: ReadonlySet<number> = new Set([-8, -9, -11, -12, -25, -27, -29]);

const reasons: Record<number, string> = {
  0: "no_permission",
  [-2]: "opt_out",
  [-10]: "uninstalled",
  [-30]: "disabled",
};

type Status = {
  status: "subscribed" | "unsubscribed" | "invalid";
  status_reason: string | null;
  unsubscribed_at: Date | null;
} & CameAndWent;

/**
 * What the number by which a device says what it is permitted makes of its subscription; nothing where that says no news.
 * Source: docs/reference/devices.md#status-details.
 */
export const saidOf = (detail: number, read: Status, now: Date): Partial<Status> => {
  const isChosen = read.status === "unsubscribed" && !isOfDevice(read.status_reason);
  if (passing.has(detail) || isChosen) return {};
  if (detail > 0) return read.status === "unsubscribed" ? subscribed(read, now) : {};
  const status_reason = reasons[detail] ?? "device_error";
  return unsubscribed(read, status_reason, now);
};

/** What the person says by a switch of the app. Without a token it takes back alone that they have switched it off before. */
export const enabledOf = (
  isEnabled: boolean,
  read: Status,
  { hasToken, now }: { hasToken: boolean; now: Date },
): Partial<Status> => {
  if (!isEnabled) return unsubscribed(read, "opt_out", now);
  return hasToken ? subscribed(read, now) : unsubscribed(read, "no_permission", now);
};

const subscribed = (read: Status, now: Date): Partial<Status> => ({
  status: "subscribed",
  status_reason: null,
  unsubscribed_at: null,
  ...cameAndWent(read.status, "subscribed", now),
});

const unsubscribed = (read: Status, status_reason: string, now: Date): Partial<Status> => ({
  status: "unsubscribed",
  status_reason,
  unsubscribed_at: read.unsubscribed_at ?? now,
  ...cameAndWent(read.status, "unsubscribed", now),
});

/** A device takes back only what it said itself; what its person chose stays until they choose otherwise. */
const isOfDevice = (reason: string | null): boolean =>
  reason === "no_permission" || reason === "uninstalled" || reason === "disabled" || reason === "device_error";
