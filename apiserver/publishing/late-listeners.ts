import type { NatsConnection, Subscription } from "@nats-io/nats-core";

export type LateListeners = ReturnType<typeof lateListeners>;

type Listening = { listener: () => void; subscription: Subscription | null };

/** Listeners of core subjects, which outlast the connection: whenever something may have been missed all of them are called. */
export const lateListeners = () => {
  const all = new Map<string, Listening>();
  let nc: NatsConnection | null = null;

  const subscribe = (subject: string, one: Listening): void => {
    if (nc === null || nc.isClosed() || nc.isDraining()) return; // it would throw: the next connection takes all
    one.subscription = nc.subscribe(subject, { callback: () => one.listener() });
    nc.flush().then(one.listener, () => undefined); // what came before the server knew of it was missed
  };
  return {
    /** One listener for each subject. It is called once when it listens, and again for each message. */
    listen: (subject: string, listener: () => void): (() => void) => {
      const one: Listening = { listener, subscription: null };
      all.set(subject, one);
      subscribe(subject, one);
      return () => {
        all.delete(subject);
        one.subscription?.unsubscribe();
      };
    },

    /** There is a new connection, or the one there was is back. */
    linked: (to: NatsConnection): void => {
      const isNew = to !== nc;
      nc = to;
      for (const [subject, one] of all) {
        if (isNew) subscribe(subject, one);
        else one.listener();
      }
    },
  };
};
