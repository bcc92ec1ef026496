import type { KeyObject } from "node:crypto";
import { signingKey } from "#core/domain/webhooks/signature.ts";
import type { Sealed } from "#core/runtime/process/key-ring.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";

/** Opens a sealed secret. `context` is the place it was sealed for. */
export type Unseal = (sealed: Sealed, context: string) => string;

/** An endpoint as requests need it: its address parsed, its secrets opened. */
export type Prepared = {
  row: WebhookRow;
  url: URL;
  key: KeyObject;
  previous: { key: KeyObject; expiresAt: Date } | null;
  /** The owner's own, names in lower case. */
  headers: Readonly<Record<string, string>>;
};

/** Prepares an endpoint once for many requests; or says why none can be made to it. */
export const prepare = (row: WebhookRow, unseal: Unseal): Prepared | { row: WebhookRow; problem: string } => {
  const url = URL.parse(row.url);
  if (url === null) return { row, problem: "the url is no address" };
  const open = (sealed: Sealed, member: string): string => unseal(sealed, `webhooks/${row._id}/${member}`);
  const { previous_secret: previous } = row;
  try {
    return {
      row,
      url,
      key: signingKey(open(row.secret, "secret")),
      previous: previous && { key: signingKey(open(previous.secret, "secret")), expiresAt: previous.expires_at },
      headers: Object.fromEntries(
        row.headers.map(({ name, value }) => [name.toLowerCase(), open(value, `headers/${name}`)]),
      ),
    };
  } catch {
    return { row, problem: "a secret cannot be opened" }; // each delivery's row says so: the key ring lacks the key
  }
};
