/** One push to Apple devices, shared by the recipients of a language; `apnsBody` adds what is the recipient's own. */
export type ApnsPush = {
  /**
   * The payload as JSON, cut where the delivery id and a badge that is counted belong; `badge` is "" without one, and
   * `after` is null in a payload without an id.
   */
  json: { badge: string; before: string; after: string | null };
  /** `background` starts the app in the background and shows nothing. */
  pushType: "alert" | "background" | "liveactivity";
  priority: 5 | 10;
  ttlSeconds: number;
  collapseId: string | null;
  /** To all devices that are subscribed to a channel, whose id is the address. */
  isBroadcast?: boolean;
};
