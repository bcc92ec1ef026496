import { reachOf } from "#core/channels/content.ts";
import { isChosen, isOfIdsAlone, type MessageAim, nobodyChosen, openAim } from "#core/domain/segments/aim.ts";
import type { Selection } from "#core/domain/segments/members.ts";
import type { Channel } from "#core/schema/vocabulary/channels.ts";
import type { audience } from "#core/storage/messages/audience.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import { ofRow } from "#core/storage/mongo/collection.ts";
import type { AimedSubscriptions, OwnedSubscription } from "#core/storage/segments/aimed.ts";
import type { AudienceDeps, PageOf } from "./audience.ts";
import type { RangeReader } from "./ranges.ts";

export type AimedDeps = {
  people: Pick<ReturnType<typeof audience>, "page" | "resolve" | "chosen">;
  aimed: Pick<AimedSubscriptions, "page" | "within" | "areFew" | "among" | "ofUsers" | "passing">;
};

/**
 * Reads the audience of messages, of one with segments or a filter only those who pass. These are judged at the instant
 * that the message is for, however long its planning takes and whoever goes on with it.
 */
export const aimedAudience = ({ people, aimed }: AimedDeps) => {
  const opened = new WeakMap<MessageAim, Promise<Selection>>(); // while one dispatcher plans it

  const open = async (aim: MessageAim, { target, app_id: appId, ...message }: MessageRow): Promise<Selection> => {
    const isOfBoth = !aim.isEveryone && aim.included.length > 0;
    const chosen = isOfBoth ? await people.chosen(target, appId) : nobodyChosen;
    return openAim(aim, message.scheduled_for ?? message.created_at, chosen);
  };

  const selectionOf = (aim: MessageAim, message: MessageRow): Promise<Selection> => {
    const selection = opened.get(aim) ?? open(aim, message);
    opened.set(aim, selection);
    return selection;
  };

  return {
    /** Those subscriptions of some people that are part of the audience. */
    ofUsers: async (message: MessageRow, userIds: readonly string[]): Promise<OwnedSubscription[]> => {
      const { app_id: appId, target, aim } = message;
      const reached = (await aimed.ofUsers(appId, userIds)).filter((row) => isReached(message, row));
      if (aim === undefined && target.all === true) return reached;
      const isOfIds = aim === undefined || isOfIdsAlone(aim);
      const chosen = isOfIds ? await people.chosen(target, appId) : nobodyChosen;
      const named = isOfIds ? reached.filter((row) => isChosen(chosen, row.user_id, row._id)) : reached;
      if (aim === undefined) return named;
      return aimed.passing(ofRow(message), named, isOfIds ? leftOf(aim, message) : await selectionOf(aim, message));
    },

    page: async (of: PageOf, message: MessageRow): Promise<string[]> => {
      const { aim } = message;
      if (aim === undefined) return people.page(of);
      const { rows } = await aimed.page({ ...of, tenantId: message.tenant_id }, await selectionOf(aim, message));
      return rows.map(({ _id }) => _id);
    },

    ...readingRanges(aimed, selectionOf),

    /** Of pages of ids, each read behind the last of the one before, the first with somebody who is meant: those alone. */
    among: async (
      { after }: Pick<PageOf, "after">,
      message: MessageRow,
      read: (after: string) => Promise<string[]>,
    ): Promise<string[]> => {
      const { aim } = message;
      for (let ids = await read(after); ids.length > 0; ids = await read(ids.at(-1) ?? "")) {
        const meant = aim && (await aimed.among(ofRow(message), ids, await selectionOf(aim, message)));
        const found = ids.filter((id) => meant?.has(id) ?? true);
        if (found.length > 0) return found;
      }
      return [];
    },

    resolve: resolvingIn({ people, aimed }),
  };
};

/** Source: docs/decisions/0131-planned-by-several.md. */
const readingRanges = (
  aimed: Pick<AimedSubscriptions, "page" | "within" | "areFew">,
  selectionOf: (aim: MessageAim, message: MessageRow) => Promise<Selection>,
): Pick<RangeReader, "look" | "within"> => ({
  look: async (of, message) => {
    const selection = await selectionOf(message.aim, message);
    const { rows, ...found } = await aimed.page({ ...of, tenantId: message.tenant_id }, selection);
    return { ...found, ids: rows.map(({ _id }) => _id), areFew: aimed.areFew(selection) };
  },

  within: async function* (of, message) {
    const selection = await selectionOf(message.aim, message);
    for await (const rows of aimed.within({ ...of, tenantId: message.tenant_id }, selection))
      yield rows.map(({ _id }) => _id);
  },
});

const resolvingIn =
  ({ people, aimed }: AimedDeps): AudienceDeps["resolve"] =>
  async (message, wanted) => {
    const found = await people.resolve(message.target, wanted);
    const { aim } = message;
    if (aim === undefined) return found;
    const ids = [...found.values()].flatMap((rows) => rows.map(({ _id }) => _id));
    const meant = await aimed.among(ofRow(message), ids, leftOf(aim, message));
    return new Map([...found].map(([channel, rows]) => [channel, rows.filter(({ _id }) => meant.has(_id))]));
  };

/** The addresses of some people on a channel that a message falls back to, without those that it excludes. */
export const addressesOn =
  (aimed: Pick<AimedSubscriptions, "ofUsers" | "passing">) =>
  async (message: MessageRow, channel: Channel, userIds: readonly string[]): Promise<OwnedSubscription[]> => {
    const { app_id: appId, aim } = message;
    const over = { ...message, channels: [channel] };
    const reached = (await aimed.ofUsers(appId, userIds)).filter((row) => isReached(over, row));
    if (aim === undefined || aim.excluded.length === 0) return reached;
    return aimed.passing(ofRow(message), reached, leftOf({ ...aim, filter: null }, message));
  };

const isReached = (
  { channels, options, target }: MessageRow,
  { channel, status, test_device: isTestDevice }: OwnedSubscription,
): boolean =>
  (target.test_devices_only !== true || isTestDevice) &&
  reachOf(channels, options).some((stretch) => stretch.channel === channel && stretch.status === status);

/** Whom the segments and the filter leave of those whom ids mean, which is known: the rest decides. */
const leftOf = (aim: MessageAim, { scheduled_for: scheduledFor, created_at: createdAt }: MessageRow): Selection =>
  openAim({ ...aim, isEveryone: true }, scheduledFor ?? createdAt, nobodyChosen);
