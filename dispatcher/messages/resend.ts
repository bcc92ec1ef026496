import { endOf, type Receipt } from "#core/domain/messages/receipts.ts";
import { waitsForResend } from "#core/domain/messages/resends.ts";
import type { ChunkRow } from "#core/storage/messages/chunks.ts";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import type { Report } from "../callbacks/apply.ts";
import { deliveryIdOf } from "./delivery/delivery-row.ts";
import type { Recorded } from "./delivery/record.ts";
import type { Deliver } from "./delivery/work.ts";
import { suppressionBy } from "./follow-up.ts";

export type ResendDeps = {
  /** Those that are stored, of these ids. */
  find: (deliveryIds: readonly string[]) => Promise<DeliveryRow[]>;
  /** Applies receipts: what an attempt came to is one. May be done twice. */
  apply: (reports: readonly Report[]) => Promise<unknown>;
};

/**
 * Sends deliveries again that their provider took and that failed for now, as `deliver` does. One that got further
 * meanwhile is left out. One that is not sent after all has failed as its last receipt says. What it came to is applied
 * before the run ends, with all that follows, so that nothing is left to do for the caller but retries.
 * Source: docs/decisions/0061.
 */
export const resend =
  (deps: ResendDeps, deliver: Deliver): Deliver =>
  async (work, lease) => {
    const { chunk } = work;
    const rows = await deps.find(chunk.recipients.map((id) => deliveryIdOf(chunk.message_id, id)));
    const waiting = rows.filter((row) => isFor(row, chunk));
    const isRepeated = chunk.fence > 1;
    if (isRepeated) await giveUp(deps, rows.filter(hasFailed), isRepeated); // it may not have been told
    const recipients = waiting.map(({ subscription_id: id }) => id);
    const delivered = await deliver({ ...work, chunk: { ...chunk, recipients } }, lease);
    const served = new Set([...delivered.stored.map((row) => row._id), ...delivered.again.map(idIn(chunk))]);
    const gone = delivered.halted ? [] : waiting.filter(({ _id }) => !served.has(_id)); // their subscription is
    await giveUp(deps, gone, isRepeated);
    return { ...delivered, stored: [], fresh: [] };
  };

/** Whether a delivery waits for this chunk, or the one that it is a retry of: not for one that came after. */
const isFor = (row: DeliveryRow, { attempt }: ChunkRow): boolean => waitsForResend(row) && row.attempts <= attempt;

const hasFailed = ({ status }: DeliveryRow): boolean => status === "failed" || status === "errored";

const idIn =
  ({ message_id: messageId }: ChunkRow) =>
  ({ subscriptionId }: { subscriptionId: string }): string =>
    deliveryIdOf(messageId, subscriptionId);

/** Stores what an attempt came to as a receipt of the delivery that waited. */
export const recordResend =
  (deps: ResendDeps) =>
  async (made: DeliveryRow): Promise<Recorded> => {
    const answer = answerOf(made);
    if (answer === null) await giveUp(deps, await deps.find([made._id]), false);
    else await apply(deps, made, answer, false);
    return "known";
  };

/** What the provider answered; null when it was not asked, or not for the last time. */
const answerOf = (made: DeliveryRow): Receipt | null => {
  const { provider = "", attempts, address_masked, uncertain, created_at: at } = made;
  const attempt = { provider, attempts, address_masked, ...(uncertain && { uncertain }) };
  const common = { ...commonOf(made), providerId: made.provider_message_id ?? null, at, attempt };
  if (made.sent_at !== undefined) return { ...common, kind: "sent" };
  const refused = refusalOf(made);
  return hasFailed(made) && refused !== null ? { ...common, ...refused, ...suppressionBy(made) } : null;
};

/** Ends deliveries as they last failed. May be done twice. */
const giveUp = async (deps: ResendDeps, rows: readonly DeliveryRow[], isRepeated: boolean): Promise<void> => {
  for (const row of rows) {
    const [refused, at] = [refusalOf(row), row.failed_at];
    const isOver = waitsForResend(row) || hasFailed(row); // else it got further meanwhile
    if (isOver && refused !== null && at !== undefined)
      await apply(deps, row, { ...commonOf(row), providerId: null, at, ...refused }, isRepeated);
  }
};

const commonOf = ({ _id }: DeliveryRow) => ({ deliveryId: _id, address: null });

const refusalOf = ({
  status,
  error_code: code,
  provider_code: providerCode,
  error_message: reason = "",
}: DeliveryRow) =>
  code === undefined
    ? null
    : {
        kind: status === "failed" || status === "errored" ? status : endOf(code),
        code,
        providerCode: providerCode ?? null,
        reason,
      };

const apply = async (
  deps: ResendDeps,
  { tenant_id: tenantId, app_id: appId }: DeliveryRow,
  receipt: Receipt,
  isRepeated: boolean,
): Promise<void> => void (await deps.apply([{ tenantId, appId, receipts: [receipt], isRepeated }]));
