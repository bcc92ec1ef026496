/** Whether a suppression is of an address: another one of the same person may be reached. Others are of the person, or of the message. */
export const isOfAddress = (reason: string): boolean => ofAddress.has(reason) || reason.startsWith("suppression_");

const ofAddress: ReadonlySet<string> = new Set([
  "unsubscribed",
  "invalid_subscription",
  "not_test_device",
  "session_closed",
]);
