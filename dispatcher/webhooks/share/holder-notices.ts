import type { Nats } from "#core/queue/jetstream/connect.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";

export type HolderNoticesDeps = {
  nats: Pick<Nats, "nc">;
  subject: string;
  onNotice: (endpointId: string) => void;
};

/**
 * Tells whichever process holds an endpoint's lease, over core NATS, that the endpoint has new deliveries. A notice that
 * is lost costs time and no delivery: a holder looks into the store before it gives the lease back.
 */
export const holderNotices = ({
  nats: { nc },
  subject,
  onNotice,
}: HolderNoticesDeps): { notify: (endpointId: string) => void; part: Part } => {
  let subscription: { unsubscribe: () => void } | undefined;
  return {
    notify: (endpointId) => {
      if (!nc.isClosed()) nc.publish(subject, endpointId);
    },
    part: {
      name: "notices to lease holders",
      start: async () => {
        subscription = nc.subscribe(subject, {
          callback: (error, message) => {
            if (error === null) onNotice(message.string());
          },
        });
        await nc.flush();
      },
      stop: async () => subscription?.unsubscribe(),
    },
  };
};
