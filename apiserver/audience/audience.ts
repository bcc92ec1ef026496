import { contactsOf } from "#core/channels/contacts.ts";
import { reachOf } from "#core/channels/content.ts";
import type { MessageTraits } from "#core/domain/suppressions/effects.ts";
import { AppError } from "#core/errors.ts";
import type { Options, Target } from "#core/schema/messages/notification.ts";
import type { Channel } from "#core/schema/vocabulary/channels.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { Audience } from "#core/storage/people/subscription-counts.ts";

/** The channels of a message that its app has an account for. */
export const configuredOf = ({ channels }: AppRow, wanted: { channels: readonly Channel[] }): Channel[] =>
  wanted.channels.filter((channel) => channels[channel] !== undefined);

/** Whom of an app a message may reach over these channels, before its target is looked at. */
export const audienceOf = (
  { _id: appId, tenant_id: tenantId }: AppRow,
  {
    target,
    category = null,
    options,
  }: { target: Target; category?: string | null; options: Pick<Options, "include_unsubscribed"> },
  channels: readonly Channel[],
): Audience => ({
  tenantId,
  appId,
  reach: reachOf(channels, options),
  testOnly: target.test_devices_only === true,
  category,
});

type Wanted = { channels: readonly Channel[]; channelsAsked: readonly Channel[] | null; target?: Target };

/** Refuses a channel that is asked for, or of addresses that are named, or all channels, when the app has no account. @throws AppError HS_CHANNEL_NOT_CONFIGURED */
export const requireChannels = (
  { channels, channelsAsked, target = {} }: Wanted,
  configured: readonly Channel[],
): void => {
  const ofContacts = contactsOf(target).map(({ channel }) => channel);
  const wanted = [...(channelsAsked ?? (configured.length === 0 ? channels : [])), ...ofContacts];
  const channel = wanted.find((one) => !configured.includes(one));
  if (channel === undefined) return;
  throw new AppError("HS_CHANNEL_NOT_CONFIGURED", `the app has no account for ${channel}`, { channel });
};

/** What entries of the suppression list are judged by on one channel of an audience. */
export const traitsOn = ({ category, reach }: Pick<Audience, "category" | "reach">, on: Channel): MessageTraits => ({
  category,
  reachesUnsubscribed: reach.some(({ channel, status }) => channel === on && status === "unsubscribed"),
});

/** Members of `target` that select somebody by ids. */
export const idSelectors = ["include_subscription_ids", "include_external_ids", "include_aliases"] as const;

/** Members of `target` that select somebody, besides `all`. */
export const selectors = [...idSelectors, "email_to", "include_phone_numbers"] as const;
