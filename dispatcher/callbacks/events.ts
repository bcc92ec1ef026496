import { makeEvent } from "#core/domain/events/make.ts";
import { isOfMachine, isShown } from "#core/domain/messages/progress.ts";
import { isPacedClick } from "#core/domain/messages/touches.ts";
import type { EventEnvelope } from "#core/schema/events/envelope.ts";
import { deliveryEvents } from "#core/schema/events/messages.ts";
import { showAs } from "#core/schema/json/show.ts";
import type { About } from "../suppressions/causes.ts";

type Kind = keyof typeof deliveryEvents;

/**
 * The events of receipts, after they were stored: made again they have the same ids, so that a callback that is read twice
 * is told once. Source: docs/reference/events.md#kinds.
 */
export const eventsOf = ({ row, receipt }: About): EventEnvelope[] => {
  const isFirst = isShown(row, receipt);
  const event = (kind: Kind, own: Record<string, unknown>, ...from: string[]): EventEnvelope[] => [
    makeEvent({
      kind,
      appId: row.app_id,
      subjectId: row._id,
      at: receipt.at,
      from: [row._id, ...from],
      data: showAs(deliveryEvents[kind].data, { ...row, delivery_id: row._id, retryable: false, ...own }),
    }),
  ];
  switch (receipt.kind) {
    case "clicked": {
      const { url, buttonId, said, at } = receipt;
      const own = { url, button_id: buttonId, first: isFirst };
      return isOfMachine(receipt) || isPacedClick(row, receipt)
        ? []
        : event("delivery.clicked", own, said ?? at.toISOString(), url ?? "", buttonId ?? "");
    }
    case "opened": {
      const { machine, userAgent, at } = receipt;
      const own = { machine, user_agent: userAgent, opened_at: at };
      return isFirst || machine ? event("delivery.opened", own, ...(machine ? ["machine"] : [])) : [];
    }
    case "delivered":
      return isFirst ? event("delivery.delivered", {}) : [];
    case "failed":
    case "errored":
      return isFirst && row.status === receipt.kind ? event("delivery.failed", {}) : [];
    case "bounced":
      return isFirst
        ? event("delivery.bounced", { bounce_type: receipt.type, provider_code: receipt.providerCode })
        : [];
    case "complained":
    case "unsubscribed": {
      const { reason, source } = receipt;
      return isFirst ? event(`delivery.${receipt.kind}`, { reason, source }) : [];
    }
    case "sent":
    case "converted":
    case "dismissed":
      return []; // told when the provider took it, as conversion.created, and not at all
  }
};
