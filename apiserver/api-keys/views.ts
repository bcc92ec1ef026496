import { ApiKey, type ApiKeyWithToken } from "#core/schema/api-keys/api-key.ts";
import { showAs } from "#core/schema/json/show.ts";
import type { ApiKeyRow } from "#core/storage/api-keys/api-keys.ts";

/** A key as the REST interface shows it: nothing of its tokens but when they end. */
export const apiKeyView = (row: ApiKeyRow): ApiKey => {
  const [current, ...former] = row.hashes;
  return showAs(ApiKey, {
    ...row,
    id: row._id,
    expires_at: current?.expires_at ?? null,
    previous_token_expires_at: latestOf(former),
    managed: row.managed && { kind: row.managed.kind, namespace: row.managed.namespace, name: row.managed.name },
  });
};

/** The same with its token, for the one reply that shows it. */
export const withToken = (row: ApiKeyRow, token: string): ApiKeyWithToken => ({ ...apiKeyView(row), token });

const latestOf = (former: ApiKeyRow["hashes"]): Date | null =>
  former.reduce<Date | null>(
    (latest, { expires_at: at }) => (at !== null && at > (latest ?? at) ? at : (latest ?? at)),
    null,
  );
