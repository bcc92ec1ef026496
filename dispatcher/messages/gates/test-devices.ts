import type { Gate } from "./gate.ts";

/** A device may have ceased to be a test device since the audience was read. */
export const testDevices: Gate =
  ({ target }) =>
  ({ test_device: isTestDevice }) =>
    target.test_devices_only === true && !isTestDevice ? "not_test_device" : null;
