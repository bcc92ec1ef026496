import type { Content } from "#core/schema/messages/notification.ts";

const button = { id: "track", text: "Track", icon: "https://x.example/i.png", url: "https://x.example/track" };

/** Every member of a message that belongs to pushes, each with a value that differs from what it is when left out. */
export const everyPushMember = {
  headings: { en: "Title", de: "Titel" },
  contents: { en: "Text", de: "Worte" },
  subtitle: { en: "Subtitle" },
  url: "https://x.example/",
  app_url: "shop://orders/7",
  data: { order: "7" },
  buttons: [button],
  big_picture: "https://x.example/p.png",
  ios_attachments: { video: "https://x.example/v.mp4" },
  ios_sound: "ping.caf",
  ios_badge_type: "Increase",
  ios_badge_count: 2,
  ios_interruption_level: "time-sensitive",
  ios_category: "order",
  thread_id: "orders",
  ios_relevance_score: 0.5,
  target_content_identifier: "orders",
  mutable_content: true,
  content_available: true,
  android_channel_id: "orders",
  android_group: "orders",
  android_sound: "ping",
  small_icon: "ic_order",
  large_icon: "https://x.example/l.png",
  android_accent_color: "FF00AA11",
  android_visibility: -1,
  chrome_web_icon: "https://x.example/i.png",
  chrome_web_image: "https://x.example/w.png",
  chrome_web_badge: "https://x.example/b.png",
  web_push_topic: "orders",
  web_buttons: [{ ...button, id: "web" }],
  require_interaction: true,
} as const satisfies Content;
