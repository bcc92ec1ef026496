import type { Nats } from "./jetstream/connect.ts";
import type { Subjects } from "./subjects.ts";

/**
 * Tells whoever shows the inboxes of these people just now that they changed. Best effort: it only has them read sooner
 * what is stored.
 */
export type NoticeInboxes = (userIds: readonly string[]) => void;

export type InboxNoticesDeps = { nats: Pick<Nats, "nc" | "isConnected">; subjects: Pick<Subjects, "inboxNotices"> };

/** Publishes nothing while NATS is away: they look by themselves when it is back. */
export const inboxNotices =
  ({ nats, subjects }: InboxNoticesDeps): NoticeInboxes =>
  (userIds) => {
    if (!nats.isConnected()) return;
    for (const id of userIds) nats.nc.publish(subjects.inboxNotices(id));
  };
