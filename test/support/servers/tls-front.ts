import { once } from "node:events";
import { type AddressInfo, connect } from "node:net";
import { createServer, type TLSSocket } from "node:tls";

/** What a server shows, and whose certificates of clients it takes. */
export type FrontMaterial = { cert: string; key: string; ca: string };

export type TlsFront = {
  port: number;
  /** Names of the authorities of the certificates that open connections have shown. */
  issuers: () => Set<string>;
  /** Shows, and asks for, other ones from now on: connections of others than `issuer` are closed at once. */
  drop: (next: FrontMaterial, issuer: string) => void;
  close: () => Promise<void>;
};

/** Takes connections with a client's certificate only, and hands on what comes to a server that speaks without TLS. */
export const startTlsFront = async (first: FrontMaterial, port: number): Promise<TlsFront> => {
  const open = new Map<TLSSocket, string>();
  const server = createServer({ ...first, requestCert: true, rejectUnauthorized: true }, (client) => {
    open.set(client, String(client.getPeerCertificate().issuer.CN));
    const behind = connect(port, "127.0.0.1").setNoDelay();
    client.setNoDelay().pipe(behind).pipe(client);
    client
      .on("error", () => undefined)
      .on("close", () => {
        open.delete(client);
        behind.destroy();
      });
    behind.on("error", () => undefined).on("close", () => client.destroy());
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    port: (server.address() as AddressInfo).port, // sound: it listens on TCP
    issuers: () => new Set(open.values()),
    drop: (next, issuer) => {
      server.setSecureContext(next);
      for (const [client, name] of open) if (name !== issuer) client.destroy();
    },
    close: async () => {
      for (const client of open.keys()) client.destroy();
      const closed = once(server, "close");
      server.close();
      await closed;
    },
  };
};
