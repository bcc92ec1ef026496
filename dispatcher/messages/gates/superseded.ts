import { collapseKeys } from "#core/storage/messages/collapse.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import type { Gate } from "./gate.ts";

export type SupersededDeps = {
  /** Of these keys those that newer messages have been sent under, or wait to be sent under again. */
  newer: (message: MessageRow, keys: readonly string[]) => Promise<ReadonlySet<string>>;
};

/** A newer message of the same collapse id may have been sent while this one waited. Source: docs/reference/channels.md#collapse-ids. */
export const superseded =
  ({ newer }: SupersededDeps): Gate =>
  async (message, recipients, chunk) => {
    const ids = recipients.map(({ _id }) => _id);
    const keys = collapseKeys(message, chunk, ids);
    const found = keys.length === 0 ? new Set() : await newer(message, keys);
    const replaced = new Set(ids.filter((_, i) => found.has(keys[i] ?? "")));
    return ({ _id }) => (replaced.has(_id) ? "superseded" : null);
  };
