import { mayReachUnsubscribed } from "#core/channels/content.ts";
import type { SuppressionReason } from "#core/schema/suppressions/suppression.ts";
import type { Reached } from "#core/storage/messages/audience.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import type { FindSuppressed } from "#core/storage/suppressions/find-suppressed.ts";

/** Why the suppression list leaves a recipient out; null when it does not. */
type Check = (recipient: Reached) => `suppression_${SuppressionReason}` | null;

/** Asks the suppression list about recipients of one channel. */
export const suppressionGate =
  (findSuppressed: FindSuppressed) =>
  async (message: MessageRow, recipients: readonly Reached[]): Promise<Check> => {
    const { tenant_id: tenantId, app_id: appId, category, options } = message;
    const [channel] = recipients.map((one) => one.channel);
    const reachesUnsubscribed = channel !== undefined && mayReachUnsubscribed(channel, options);
    const suppressed = await findSuppressed({ tenantId, appId }, { category, reachesUnsubscribed }, recipients);
    return ({ _id }) => {
      const reason = suppressed.get(_id);
      return reason === undefined ? null : `suppression_${reason}`;
    };
  };
