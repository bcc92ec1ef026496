import type { MessageEvent } from "../../schema/exports/export.ts";
import type { Happened } from "../exports/message-events.ts";
import type { Progress } from "./progress.ts";

type Kind = Exclude<MessageEvent, "errored" | "converted"> | "machine_opened" | "machine_clicked";

/**
 * When what happened to a delivery was stored: of each kind the first time, which never changes, also where a provider later
 * names another instant. What was stored with the delivery itself has no member.
 */
export type Received = Partial<Record<Kind, Date>>;

type Stored = { received?: Received; created_at: Date };

/** What a change adds to {@link Received}; `at` is the `updated_at` that the change writes. */
export const newlyReceived = (before: Progress & Stored, after: Progress, at: Date): Received =>
  Object.fromEntries(
    Object.entries(kinds).flatMap(([member, kind]) => {
      const [was, is] = [member in before, member in after]; // members without a value are left out
      if (before.received?.[kind] !== undefined || was === is) return [];
      return [[kind, is ? at : before.created_at]]; // one that is taken back keeps the instant that it had
    }),
  );

/** When a delivery's event was stored. Source: docs/reference/warehouse.md#datasets. */
export const receivedAt = ({ received = {}, created_at }: Stored, { event, isOfMachine }: Happened): Date => {
  const kind = event === "errored" ? "failed" : event;
  const name = isOfMachine === true ? (`machine_${kind}` as Kind) : (kind as Kind); // sound: only opens and clicks are of machines
  return received[name] ?? created_at;
};

/**
 * That a delivery failed before it was sent again: nothing else of it says so any more. Null when it did not, or still shows
 * that it failed.
 */
export const failureTakenBack = ({
  received = {},
  ...delivery
}: Progress & Pick<Stored, "received">): Happened | null =>
  received.failed === undefined || delivery.failed_at !== undefined ? null : { event: "failed", at: received.failed };

/** By the member that has the instant at which it happened. */
const kinds = {
  sent_at: "sent",
  delivered_at: "delivered",
  opened_at: "opened",
  clicked_at: "clicked",
  machine_opened_at: "machine_opened",
  machine_clicked_at: "machine_clicked",
  failed_at: "failed",
  bounced_at: "bounced",
  complained_at: "complained",
  unsubscribed_at: "unsubscribed",
} as const satisfies Partial<Record<keyof Progress, Kind>>;
