import type { Part } from "../runtime/process/lifecycle.ts";
import type { Changes } from "../storage/directory.ts";
import type { Nats } from "./jetstream/connect.ts";
import type { Subjects } from "./subjects.ts";

export type Announcer = {
  /**
   * Announces to every process that a configuration document changed, and of which app it is or was where that is known.
   * Best effort: caches expire within 60 s anyway.
   */
  changed: (collection: string, id: string, appId?: string) => void;
};

export const announcer = ({
  nats,
  subjects,
}: {
  nats: Pick<Nats, "nc">;
  subjects: Pick<Subjects, "config">;
}): Announcer => ({
  changed: (collection, id, appId) => {
    if (nats.nc.isClosed()) return;
    const token = id.replaceAll(/[^A-Za-z0-9_-]/g, "_"); // the id itself is in the body
    nats.nc.publish(subjects.config(collection, token), JSON.stringify({ collection, id, app_id: appId }));
  },
});

/**
 * Calls its listeners for each announcement, and with `("*", "*")` after the connection was lost: any number may have been
 * missed.
 */
export const changes = ({ nats, subjects }: ChangesDeps): Part & Changes => {
  const listeners: Parameters<Changes["on"]>[0][] = [];
  const announce: (typeof listeners)[number] = (...change) => {
    for (const listener of listeners) listener(...change);
  };
  let undo: (() => void)[] = [];
  return {
    name: "configuration changes",
    on: (listener) => void listeners.push(listener),
    start: async () => {
      const subscription = nats.nc.subscribe(subjects.allConfig(), {
        callback: (error, message) => {
          const change = error === null ? read(message.string()) : null;
          if (change !== null) announce(change.collection, change.id, change.appId);
        },
      });
      undo = [nats.onReconnect(() => announce("*", "*")), () => subscription.unsubscribe()];
      await nats.nc.flush();
    },
    stop: async () => {
      for (const step of undo) step();
    },
  };
};

export type ChangesDeps = { nats: Pick<Nats, "nc" | "onReconnect">; subjects: Pick<Subjects, "allConfig"> };

const read = (text: string): { collection: string; id: string; appId: string | undefined } | null => {
  try {
    const { collection, id, app_id: app } = JSON.parse(text) as Record<string, unknown>; // sound: checked on the next lines
    const appId = typeof app === "string" ? app : undefined;
    return typeof collection === "string" && typeof id === "string" ? { collection, id, appId } : null;
  } catch {
    return null; // not ours: anyone may publish in core NATS
  }
};
