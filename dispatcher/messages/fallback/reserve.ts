import type { Clock } from "#core/domain/clock.ts";
import type { Directory } from "#core/storage/directory.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import { firstDay, type Usage } from "#core/storage/messages/usage.ts";
import type { messageWork } from "#core/storage/messages/work.ts";
import type { LookDeps } from "./look.ts";

export type ReserveDeps = {
  usage: Pick<Usage, "charge" | "noteSettled">;
  directory: Pick<Directory, "tenant" | "plan">;
  messages: Pick<ReturnType<typeof messageWork>, "fellBack">;
  clock: Clock;
};

const noLimit = Number.MAX_SAFE_INTEGER;

/**
 * Reserves what a fallback sends, all of a look or nothing. The counter knows the look until the message does, so that a
 * kill between both counts nothing twice. Source: docs/reference/limits.md#message-quota.
 */
export const reserveMore =
  ({ usage, directory, messages, clock }: ReserveDeps): LookDeps["reserve"] =>
  async (message, { step, by, count }) => {
    const { tenant_id: tenantId, reserved, fell_back_by: known = [] } = message;
    if (reserved !== null && !known.includes(by)) {
      const limit = await monthlyOf(directory, message);
      for (const period of inOrder(reserved.periods)) {
        const wanted = { id: by, count, period, limit: period === firstDay ? noLimit : limit };
        const isTaken = await usage.charge(tenantId, wanted, clock.now());
        if (!isTaken) return false;
      }
    }
    await messages.fellBack(message, { step, by, count, at: clock.now() });
    if (reserved !== null) usage.noteSettled(tenantId, by, reserved).catch(() => undefined); // then it stays known
    return true;
  };

/** The first day is not asked: the message was accepted within it. */
const inOrder = (periods: readonly string[]): string[] =>
  periods.toSorted((a, b) => Number(a === firstDay) - Number(b === firstDay));

const monthlyOf = async (
  directory: ReserveDeps["directory"],
  { tenant_id: tenantId, plan }: Pick<MessageRow, "tenant_id" | "plan">,
): Promise<number> => {
  const tenant = await directory.tenant(tenantId);
  return (await directory.plan(tenant?.plan ?? plan))?.messages_per_month ?? noLimit;
};
