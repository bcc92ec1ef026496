import { derivedId } from "#core/domain/ids.ts";

/** The push that the benches of senders send, Herald's and others'. */
export const samplePush = {
  messageId: derivedId("message", "bench"),
  content: {
    headings: { en: "Your order" },
    contents: { en: "It is on its way and arrives before noon." },
    data: { order: "1" },
  },
  options: {},
  language: null,
  ttlSeconds: 3600,
};
