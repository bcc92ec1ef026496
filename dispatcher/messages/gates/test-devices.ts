import { recipientGates } from "#core/channels/gates.ts";
import type { Gate } from "./gate.ts";

/** A device may have ceased to be a test device since the audience was read. */
export const testDevices: Gate = (message) => (recipient) => recipientGates.testDevice(message, recipient);
