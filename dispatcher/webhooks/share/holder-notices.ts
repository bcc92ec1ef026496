import type { Nats } from "#core/queue/jetstream/connect.ts";
import type { Subjects } from "#core/queue/subjects.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";

export type HolderNoticesDeps = { nats: Pick<Nats, "nc">; subjects: Pick<Subjects, "newDeliveries"> };

/** Passes on each notice that an endpoint has new deliveries; any process may hold the endpoint's lease. */
export const holderNotices = (
  { nats: { nc }, subjects }: HolderNoticesDeps,
  onNotice: (endpointId: string) => void,
): Part => {
  let subscription: { unsubscribe: () => void } | undefined;
  return {
    name: "notices to lease holders",
    start: async () => {
      subscription = nc.subscribe(subjects.newDeliveries(), {
        callback: (error, message) => {
          if (error === null) onNotice(message.string());
        },
      });
      await nc.flush();
    },
    stop: async () => subscription?.unsubscribe(),
  };
};
