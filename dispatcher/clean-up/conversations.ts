import type { Clock } from "#core/domain/clock.ts";
import type { ConversationRetention } from "#core/storage/conversations/retention.ts";
import type { KeptThings } from "../work/kept-apps.ts";

export type KeptConversationsDeps = ConversationRetention & { isOurs: () => Promise<boolean>; clock: Clock };

/** Conversations that are over are kept as long as the plan, or the app, keeps messages. */
export const keptConversations = ({ removeOldest, isOurs, clock }: KeptConversationsDeps): KeptThings => ({
  name: "conversation retention",
  says: {
    failed: "conversation_retention.failed",
    setAside: "conversation_retention.set_aside",
    done: "conversation_retention.done",
  },
  remove: async (app, before, onPage, stop) => {
    const since = before(app.days);
    while (await isOurs()) {
      const removed = await removeOldest(app, since, clock.now(), stop);
      if (removed === 0) return;
      onPage(removed);
    }
  },
});
