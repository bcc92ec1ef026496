import { audienceGates } from "./audience.ts";
import type { Gate } from "./gate.ts";
import { recipientsGates } from "./recipient.ts";
import { acceptedGate, sendingGates } from "./sending.ts";

/**
 * The gates in the order in which they are asked, which is that of their names (`core/schema/why/why.ts`). One more is its
 * name there and one entry in a list of these; a gate before a send has its `suppression_reason`s in `reasons`, and asks in
 * `judge` the function that decides (`core/channels/gates.ts`).
 */
export const allGates: readonly Gate[] = [acceptedGate, ...audienceGates, ...recipientsGates, ...sendingGates];
