import { type RemovalRow, removal } from "../work/removals.ts";

/** Of an app: its people, its messages and its history of webhooks go with it. */
export const appRemoval = ({ _id, tenant_id }: { _id: string; tenant_id: string }, now: Date): RemovalRow => ({
  ...removal({ _id, tenant_id, app_id: _id }, now),
  kind: "app",
  keys: [],
  outbox: [],
});
