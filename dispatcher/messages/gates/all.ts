import type { Check, Gate } from "./gate.ts";
import { subscriptionState } from "./subscription-state.ts";
import { testDevices } from "./test-devices.ts";

/** The gates before a send, in the order in which they are asked. */
export const gates: readonly Gate[] = [subscriptionState, testDevices];

/** Opens gates for the recipients of one run: the first that has a reason gives it. */
export const openGates = async (all: readonly Gate[], ...given: Parameters<Gate>): Promise<Check> => {
  const checks: Check[] = [];
  for (const gate of all) checks.push(await gate(...given));
  return (recipient) => {
    for (const check of checks) {
      const reason = check(recipient);
      if (reason !== null) return reason;
    }
    return null;
  };
};
