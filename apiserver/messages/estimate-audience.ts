import { channelsAsked, impossible, whySkipped } from "#core/channels/content.ts";
import { meantBy, saidIn } from "#core/domain/messages/neutral.ts";
import { dueAtOf } from "#core/domain/messages/send-after.ts";
import { refuse } from "#core/errors.ts";
import { type EstimateAudience, type EstimateAudienceResult, EstimateOptions } from "#core/schema/messages/estimate.ts";
import type { SkippedChannel } from "#core/schema/messages/message.ts";
import type { Content, Options, Target } from "#core/schema/messages/notification.ts";
import { channels as allChannels, type Channel } from "#core/schema/vocabulary/channels.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { audienceOf, configuredOf, requireChannels } from "../audience/audience.ts";
import { type Estimate, missingOf } from "../audience/estimate.ts";
import type { LastCountOf } from "../audience/last-count.ts";
import type { planSchedule } from "../audience/schedule.ts";
import type { NarrowLimit } from "../limits/narrow-limit.ts";
import type { AcceptDeps } from "./accept.ts";
import { channelsOf, contentOf, pick, targetErrors, timeErrors } from "./draft.ts";
import { unsupported } from "./unsupported.ts";

export type EstimateAudienceDeps = Pick<AcceptDeps, "estimate" | "aimOf" | "clock"> & {
  limit: NarrowLimit;
  lastCount: LastCountOf;
  planSchedule: ReturnType<typeof planSchedule>;
};

/**
 * Counts whom a message to a target would reach now: over the channels that it names, else over those of the app that it
 * has content for, or all of the app's when no content is given. Nothing is sent, stored or reserved.
 * Source: docs/reference/messages.md#estimate.
 */
export const estimateAudience =
  ({ estimate, aimOf, lastCount: last, limit, planSchedule: plan, clock }: EstimateAudienceDeps) =>
  async (app: AppRow, body: EstimateAudience): Promise<EstimateAudienceResult> => {
    await limit("notifications.estimate", app._id);
    const now = clock.now();
    const aimed = aimedBy(body, now);
    const { options, scheduledFor } = aimed;
    const configured = configuredOf(app, aimed);
    refuse(impossible({ content: aimed.content, options: {} }, configured, app.channels));
    const over = aimed.channelsAsked === null ? allChannels : configured;
    const aim = await aimOf(app._id, aimed.target);
    const { category = null } = body;
    const audience = audienceOf(app, { target: aimed.target, category, options }, over);
    const planned = plan(app, { options, category, scheduledFor, now });
    const found = await estimate(audience, aimed.target, {
      aimed: aim && { aim, at: scheduledFor ?? now },
      onePerUser: options.one_per_user === true,
      last,
      onReached: planned?.onReached,
    });
    requireChannels(aimed, configured);
    const isExact = found.isUpperBound !== true && found.asOf === undefined;
    const { reached, ...shown } = split(app, aimed, found.byChannel);
    return {
      recipients: found.isUpperBound ? null : reached,
      ...(found.isUpperBound && { upper_bound: reached }),
      ...shown,
      ...(!isExact && { is_exact: false as const, as_of: asOf(found) }),
      ...planned?.shown(isExact ? found.recipients : null),
      new_contacts: found.newContacts,
      ...missingOf(found),
    };
  };

/** When the count was made that is given in place of an exact one. */
const asOf = ({ isUpperBound, asOf: at }: Estimate): string | null =>
  isUpperBound || at === undefined ? null : at.toISOString();

type Aimed = {
  target: Target;
  content: Content;
  options: Options;
  scheduledFor: Date | null;
  channelsAsked: Channel[] | null;
  channels: readonly Channel[];
};

/** What is asked about, judged as a message is. @throws ValidationError */
const aimedBy = (body: EstimateAudience, now: Date): Aimed => {
  const [target, content] = [meantBy(body.target), saidIn(contentOf(body))];
  const options: Options = pick(body, Object.keys(EstimateOptions));
  const due = dueAtOf(options.send_after, now);
  const problems = [
    ...unsupported(body),
    ...targetErrors(body.target),
    ...timeErrors(options),
    ...("problem" in due ? [{ field: "send_after", message: due.problem }] : []),
  ];
  const times = { options, scheduledFor: "at" in due ? due.at : null };
  if (Object.keys(content).length === 0) {
    refuse(problems);
    const asked = channelsAsked(target);
    return { target, content, ...times, channelsAsked: asked, channels: asked ?? allChannels };
  }
  const { channels, asked, errors } = channelsOf({ target, content });
  refuse([...problems, ...errors]);
  return { target, content, ...times, channelsAsked: asked, channels };
};

/** `reached` is the sum of `by_channel`. */
type Split = { reached: number } & Pick<EstimateAudienceResult, "by_channel" | "skipped_channels">;

const split = (app: AppRow, { content, channels }: Aimed, counts: Readonly<Record<string, number>>): Split => {
  const reasonOf = (channel: Channel): SkippedChannel["reason"] | null => {
    if (app.channels[channel] === undefined) return "not_configured";
    return channels.includes(channel) ? null : whySkipped(channel, content);
  };
  const counted = allChannels.flatMap((channel) => {
    const recipients = counts[channel] ?? 0;
    return recipients === 0 ? [] : [{ channel, reason: reasonOf(channel), recipients }];
  });
  const reached = counted.filter(({ reason }) => reason === null);
  return {
    reached: reached.reduce((sum, { recipients }) => sum + recipients, 0),
    by_channel: Object.fromEntries(reached.map(({ channel, recipients }) => [channel, recipients])),
    skipped_channels: counted.flatMap(({ reason, ...one }) => (reason === null ? [] : [{ ...one, reason }])),
  };
};
