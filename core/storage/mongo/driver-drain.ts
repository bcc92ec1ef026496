import { Connection } from "mongodb/lib/cmap/connection.js";

let isDone = false;

/**
 * Ends the wait of commands for a closed socket. The driver (7.8.0, `writeCommand`) awaits `drain` when a socket does
 * not take a command at once, and no event follows when the socket is closed instead: the command never ends. When it
 * is the monitor's, the client never finds the server again: seen in one of three restarts of a server that is polled.
 * After a `drain` the driver sees that the connection is closed, and fails the command as it does elsewhere.
 */
export const endWaitsForDrain = (): void => {
  if (isDone) return;
  isDone = true;
  const { prototype } = Connection;
  const { cleanup } = prototype;
  prototype.cleanup = function (this: Connection, error) {
    cleanup.call(this, error);
    this.socket.emit("drain");
  };
};
