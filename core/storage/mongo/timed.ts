import type { MongoClient } from "mongodb";
import type { OnCall } from "../../runtime/metrics/stores.ts";

/**
 * Tells how long each command took: from when it got its connection until it gave it back. The driver's events of commands
 * would say the same, but with them it keeps a copy of each command and reads each reply twice.
 */
export const timeCommands = (client: MongoClient, onCall: OnCall): void => {
  const beganMs = new Map<string, number>(); // by connection: as many as the pool has
  client.on("connectionCheckedOut", ({ address, connectionId }) => {
    beganMs.set(`${address}/${connectionId}`, performance.now());
  });
  client.on("connectionCheckedIn", ({ address, connectionId }) => {
    const key = `${address}/${connectionId}`;
    const began = beganMs.get(key);
    if (began === undefined) return;
    beganMs.delete(key);
    onCall((performance.now() - began) / 1_000);
  });
  client.on("connectionClosed", ({ address, connectionId }) => void beganMs.delete(`${address}/${connectionId}`));
};
