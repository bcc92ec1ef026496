import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import type { System, SystemProgram } from "./system.ts";

/** What an apiserver answered; whoever asks knows the shape of the body. */
export type Reply = { status: number; body: never };

/** Asks an operation of the REST interface with the key of an organisation, such as `call(api)(system, "GET", "/v1/apps")`. */
export const call =
  ({ url }: Pick<SystemProgram, "url">) =>
  async ({ token }: System, method: string, path: string, body?: object): Promise<Reply> => {
    const reply = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: reply.status, body: (await reply.json()) as never };
  };

type Changed = { status: number; body: { error?: { details: { field: string } } } };

/** Changes settings of the organisation's app. */
export const changeSettings =
  (api: Pick<SystemProgram, "url">) =>
  (system: System, settings: object): Promise<Changed> =>
    call(api)(system, "PATCH", `/v1/apps/${system.app._id}/settings`, settings);

/** A message's target of these subscriptions. */
export const to = (devices: readonly SubscriptionRow[]) => ({
  target: { include_subscription_ids: devices.map(({ _id }) => _id) },
});
