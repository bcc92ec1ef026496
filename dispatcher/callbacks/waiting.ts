import type { Callback } from "#core/channels/kit/callbacks.ts";

/** A delivery is stored seconds after it was sent, a certificate fetched; minutes, while a store or the provider is away. */
const waitMs = 900_000;

/** Whether a callback may still wait for what it needs. */
export const isYoung = ({ receivedAt }: Pick<Callback, "receivedAt">, now: Date): boolean =>
  now.getTime() - receivedAt.getTime() < waitMs;
