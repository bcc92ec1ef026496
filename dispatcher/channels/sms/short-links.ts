import { type LinkedText, shortCode, withLinks } from "#core/channels/sms/links.ts";
import { renderSms, type SmsText } from "#core/channels/sms/render.ts";
import { segmentsOf } from "#core/channels/sms/segments.ts";
import type { Outcome, Provider } from "#core/domain/messages/outcome.ts";
import type { LinkRow } from "#core/storage/links/links.ts";
import type { Account } from "../kit/provider.ts";

export type ShortLinksDeps = {
  app: { appId: string; tenantId: string };
  /** The address of a short link. */
  urlOf: (code: string) => string;
  /** Stores links, those that are there already unchanged. */
  keep: (row: LinkRow) => Promise<unknown>;
  clock: { now: () => Date };
};

/** An account whose messages have short links, one for each recipient, and know their segments. */
export const withShortLinks = (deps: ShortLinksDeps, provider: Provider<SmsText>): Account => ({
  name: provider.name,
  origins: provider.origins,
  takes: provider.takes,
  prepare: (rendering) => {
    const message = renderSms(rendering);
    const { body, shortens, mediaUrls, from, ttlSeconds } = message;
    const short = (deliveryId: string): string =>
      withLinks(body, (link, index) => (shortens ? deps.urlOf(shortCode(deliveryId, index)) : link));
    const segments = mediaUrls.length === 0 ? segmentsOf(short("")) : null; // every code is of one length
    return async (to, signal, isOver) => {
      if (shortens) await keepLinks(deps, body, { messageId: rendering.messageId, deliveryId: to.deliveryId });
      const text = short(to.deliveryId);
      return counted(await provider.send({ text, mediaUrls, from, ttlSeconds }, to, signal, isOver), segments);
    };
  },
  check: (signal) => provider.check(signal),
  close: () => provider.close(),
});

const counted = (outcome: Outcome, segments: number | null): Outcome =>
  outcome.kind === "sent" && segments !== null ? { ...outcome, segments } : outcome;

const keepLinks = async (
  { app: { appId, tenantId }, keep, clock }: ShortLinksDeps,
  { links }: LinkedText,
  { messageId, deliveryId }: { messageId: string; deliveryId: string },
): Promise<void> => {
  const common = { tenant_id: tenantId, app_id: appId, message_id: messageId, delivery_id: deliveryId };
  const row = (url: string, index: number): LinkRow => ({
    _id: shortCode(deliveryId, index),
    ...common,
    url,
    created_at: clock.now(),
  });
  await Promise.all(links.map((url, index) => keep(row(url, index)))); // bounded: a text has 1,600 characters
};
