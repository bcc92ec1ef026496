/** What of the driver's connection, which it does not export, is used here. */
declare module "mongodb/lib/cmap/connection.js" {
  import type { Socket } from "node:net";

  export class Connection {
    socket: Socket;
    cleanup: (error: Error) => void;
  }
}
