/** Keys and address of a browser's push subscription, as the service takes them. */
export type Push = { token: string; web: { p256dh: string; auth: string } };

/** What the service gets to know of a push subscription. */
export const pushOf = (subscription: PushSubscription): Push => {
  const { endpoint = "", keys = {} } = subscription.toJSON();
  return { token: endpoint, web: { p256dh: keys["p256dh"] ?? "", auth: keys["auth"] ?? "" } };
};
