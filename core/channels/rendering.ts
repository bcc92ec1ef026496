import type { Content, Options } from "../schema/messages/notification.ts";

/** What every renderer is given: a message, the language of a group of recipients, and what is left of its ttl. */
export type Rendering = {
  messageId: string;
  content: Content;
  options: Options;
  language: string | null;
  ttlSeconds: number;
};
