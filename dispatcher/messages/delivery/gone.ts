import { maskAddress } from "#core/channels/addresses.ts";
import type { Outcome } from "#core/domain/messages/outcome.ts";
import { mostVerdicts } from "#core/domain/suppressions/verdicts.ts";
import type { Reached } from "#core/storage/messages/audience.ts";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import { ofApp } from "#core/storage/mongo/collection.ts";
import type { Gone } from "#core/storage/people/ended.ts";
import type { AnsweredGone, Guard } from "../../suppressions/guard.ts";
import type { Attempt } from "./delivery-row.ts";
import type { Delivered, Work } from "./work.ts";

/** An address that the provider's answer called gone. */
export type FoundGone = AnsweredGone & { subscription: Gone };

export const foundGone = (
  { since, code }: Extract<Outcome, { kind: "token_invalid" }>,
  { deliveryId, subscription: { _id, token }, now }: Pick<Attempt, "deliveryId" | "subscription" | "now">,
): FoundGone => ({ deliveryId, address: token, code, subscription: { _id, token, since: since ?? now } });

/** Addresses that an earlier run found gone: it may have been killed before it marked them. */
export const goneBefore = (stored: readonly DeliveryRow[], subscriptions: readonly Reached[]): FoundGone[] => {
  const gone = stored.filter((row) => row.gone_since !== undefined);
  if (gone.length === 0) return [];
  const known = new Map(subscriptions.map((row) => [row._id, row]));
  return gone.flatMap(({ _id, subscription_id: id, address_masked: masked, gone_since: since, error_code: code }) => {
    const row = known.get(id);
    const isSame = row !== undefined && maskAddress(row.channel, row.token) === masked;
    if (!isSame || since === undefined || code === undefined) return [];
    return [{ deliveryId: _id, address: row.token, code, subscription: { _id: id, token: row.token, since } }];
  });
};

type Run = {
  work: Pick<Work, "app" | "chunk">;
  provider: string;
  gone: readonly FoundGone[];
  delivered: Pick<Delivered, "stored">;
};

/** Which of the addresses that a run found gone are to be invalidated, by all that it came to. */
export const judged = async (
  guard: Pick<Guard, "ofAnswers">,
  { work: { app, chunk }, provider, gone, delivered: { stored } }: Run,
  now: Date,
): Promise<Pick<Delivered, "invalid" | "doubted">> => {
  const taken = stored.filter(({ sent_at: at, uncertain }) => at && uncertain !== true).map(({ _id }) => _id);
  const doubted = await guard.ofAnswers(
    {
      of: ofApp(app),
      channel: chunk.channel,
      provider,
      revision: app.channels_revision,
      accepted: gone.length === 0 ? taken.slice(-mostVerdicts) : taken, // more is not remembered
      gone,
    },
    now,
  );
  const invalid = gone.filter((one) => !doubted.has(one)).map(({ subscription }) => subscription);
  return { invalid, doubted: doubted.size };
};
