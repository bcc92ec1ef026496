import { type MessageAim, nobodyChosen, openAim } from "#core/domain/segments/aim.ts";
import type { Selection } from "#core/domain/segments/members.ts";
import type { audience } from "#core/storage/messages/audience.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import type { AimedSubscriptions } from "#core/storage/segments/aimed.ts";
import type { AudienceDeps, PageOf } from "./audience.ts";

export type AimedDeps = {
  people: Pick<ReturnType<typeof audience>, "page" | "resolve" | "chosen">;
  aimed: Pick<AimedSubscriptions, "page" | "among">;
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
    page: async (of: PageOf, message: MessageRow): Promise<string[]> => {
      const { aim } = message;
      if (aim === undefined) return people.page(of);
      const { rows } = await aimed.page(of, await selectionOf(aim, message));
      return rows.map(({ _id }) => _id);
    },

    resolve: async (message: MessageRow, wanted: Parameters<AudienceDeps["resolve"]>[1]) => {
      const found = await people.resolve(message.target, wanted);
      const { aim } = message;
      if (aim === undefined) return found;
      const ids = [...found.values()].flatMap((rows) => rows.map(({ _id }) => _id));
      const selection = openAim(
        { ...aim, isEveryone: true },
        message.scheduled_for ?? message.created_at,
        nobodyChosen,
      );
      const meant = await aimed.among(message.app_id, ids, selection); // whom the ids mean is known: the rest decides
      return new Map([...found].map(([channel, rows]) => [channel, rows.filter(({ _id }) => meant.has(_id))]));
    },
  };
};
