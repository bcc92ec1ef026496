import type { Part } from "../runtime/lifecycle.ts";
import type { Changes } from "../storage/directory.ts";
import type { Nats } from "./connect.ts";
import type { Subjects } from "./subjects.ts";

export type Announcer = {
  /** Tells every process that a configuration document changed. Best effort: caches expire within 60 s anyway. */
  changed: (collection: string, id: string) => void;
};

export const announcer = ({
  nats,
  subjects,
}: {
  nats: Pick<Nats, "nc">;
  subjects: Pick<Subjects, "config">;
}): Announcer => ({
  changed: (collection, id) => {
    if (nats.nc.isClosed()) return;
    const token = id.replaceAll(/[^A-Za-z0-9_-]/g, "_"); // the id itself is in the body
    nats.nc.publish(subjects.config(collection, token), JSON.stringify({ collection, id }));
  },
});

/**
 * Hears the announcements. After the connection was lost it calls with `("*", "*")`, since any number may have been
 * missed.
 */
export const changes = ({ nats, subjects }: ChangesDeps): Part & Changes => {
  const listeners: ((collection: string, id: string) => void)[] = [];
  const tell = (collection: string, id: string): void => {
    for (const listener of listeners) listener(collection, id);
  };
  let undo: (() => void)[] = [];
  return {
    name: "configuration changes",
    on: (listener) => void listeners.push(listener),
    start: async () => {
      const subscription = nats.nc.subscribe(subjects.allConfig(), {
        callback: (error, message) => {
          const change = error === null ? read(message.string()) : null;
          if (change !== null) tell(change.collection, change.id);
        },
      });
      undo = [nats.onReconnect(() => tell("*", "*")), () => subscription.unsubscribe()];
      await nats.nc.flush();
    },
    stop: async () => {
      for (const step of undo) step();
    },
  };
};

export type ChangesDeps = { nats: Pick<Nats, "nc" | "onReconnect">; subjects: Pick<Subjects, "allConfig"> };

const read = (text: string): { collection: string; id: string } | null => {
  try {
    const { collection, id } = JSON.parse(text) as Record<string, unknown>; // sound: checked on the next line
    return typeof collection === "string" && typeof id === "string" ? { collection, id } : null;
  } catch {
    return null; // not ours: anyone may publish in core NATS
  }
};
