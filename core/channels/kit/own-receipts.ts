import type { Receipt } from "../../domain/messages/receipts.ts";
import { type Callback, type CallbackDefinition, unknown } from "./callbacks.ts";

/** Whose callbacks our own receipts are: nobody can send them to us. */
export const ownProvider = "own";

/**
 * Receipts that we make ourselves, such as that of a click on a link of ours, or that wait for a delivery which is not
 * stored yet. They wait in the queue like the callbacks of providers.
 */
export const ownReceipts: CallbackDefinition<unknown> = {
  verify: () => unknown,
  read: ({ body }) => {
    const receipts = JSON.parse(body.toString()) as (Receipt & { at: string })[]; // sound: written by ownCallback
    return { receipts: receipts.map((one) => ({ ...one, at: new Date(one.at) })), inbound: [] };
  },
};

export const ownCallback = (receipts: readonly Receipt[], receivedAt: Date): Callback => ({
  part: "",
  url: "",
  contentType: "application/json",
  receivedAt,
  body: Buffer.from(JSON.stringify(receipts)),
});
