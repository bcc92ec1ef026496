import type { Nats } from "#core/queue/jetstream/connect.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";

export type CallsDeps = {
  nats: Pick<Nats, "nc">;
  subject: string;
  hear: (endpointId: string) => void;
};

/**
 * Calls to whichever process holds an endpoint, over core NATS: it has new deliveries. One that is lost costs time, not
 * deliveries: a holder looks before it lets go.
 */
export const calls = ({
  nats: { nc },
  subject,
  hear,
}: CallsDeps): { call: (endpointId: string) => void; part: Part } => {
  let subscription: { unsubscribe: () => void } | undefined;
  return {
    call: (endpointId) => {
      if (!nc.isClosed()) nc.publish(subject, endpointId);
    },
    part: {
      name: "calls to holders",
      start: async () => {
        subscription = nc.subscribe(subject, {
          callback: (error, message) => {
            if (error === null) hear(message.string());
          },
        });
        await nc.flush();
      },
      stop: async () => subscription?.unsubscribe(),
    },
  };
};
