import type { Content, Options } from "../../schema/messages/notification.ts";
import type { LiveActivityPush } from "./live-activity.ts";

/** What every renderer is given: a message, the language of a group of recipients, and what is left of its ttl. */
export type Rendering = {
  messageId: string;
  content: Content;
  options: Options;
  category?: string | null;
  language: string | null;
  ttlSeconds: number;
  /** For how many the message was about when it was accepted; left out: for few. */
  recipients?: number;
  /** Of a message that starts, updates or ends a live activity. */
  live?: LiveActivityPush;
};

/** Stands for the id of a message or a delivery where only the size counts: every id is 30 characters long. */
export const anId = "0".repeat(30);
