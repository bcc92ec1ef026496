import { channelsAsked } from "#core/channels/content.ts";
import { meantBy } from "#core/domain/messages/neutral.ts";
import { refuse } from "#core/errors.ts";
import type { EstimateAudience, EstimateAudienceResult } from "#core/schema/messages/estimate.ts";
import { channels } from "#core/schema/vocabulary/channels.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { audienceOf, configuredOf, requireChannels } from "../accepting/audience.ts";
import { missingOf } from "../accepting/estimate.ts";
import type { NarrowLimit } from "../limits/narrow-limit.ts";
import type { AcceptDeps } from "./accept.ts";
import { targetErrors } from "./draft.ts";

export type EstimateAudienceDeps = Pick<AcceptDeps, "estimate"> & { limit: NarrowLimit };

const allowance = { calls: 10, seconds: 1 }; // of an app; docs/reference/limits.md#narrow-rates

/**
 * Counts whom a message to a target would reach now, over the channels that it names, or else all of the app's. Nothing
 * is sent, stored or reserved. Source: docs/reference/messages.md#estimate.
 */
export const estimateAudience =
  ({ estimate, limit }: EstimateAudienceDeps) =>
  async (app: AppRow, { target: given, ...options }: EstimateAudience): Promise<EstimateAudienceResult> => {
    await limit("notifications.estimate", app._id, allowance);
    refuse(targetErrors(given));
    const target = meantBy(given);
    const asked = channelsAsked(target);
    const aimed = { channelsAsked: asked, channels: asked ?? [...channels] };
    const configured = configuredOf(app, aimed);
    const found = await estimate(audienceOf(app, { target, options }, configured), target);
    requireChannels(aimed, configured);
    return { recipients: found.recipients, by_channel: found.byChannel, new_contacts: 0, ...missingOf(found) };
  };
