/** What an address of NATS says: its servers, and the login that they ask for. */
export type NatsAddress = { servers: string[]; user?: string; pass?: string; token?: string };

/**
 * Reads `nats://USER:PASSWORD@HOST:PORT`, several separated by commas, with percent-encoded logins. The client heeds none
 * that stands in an address, and takes one for all servers: the first that is there counts. A name alone is a token, as for
 * the other clients of NATS (docs.nats.io, "Connecting": "nats://token@server").
 */
export const readNatsAddress = (url: string): NatsAddress => {
  const parts = url.split(",").map((server) => /^([a-z]+:\/\/)?(?:(.*)@)?([^@]*)$/.exec(server.trim()));
  const servers = parts.map((part) => `${part?.[1] ?? ""}${part?.[3] ?? ""}`);
  const login = parts.find((part) => part?.[2] !== undefined)?.[2];
  return login === undefined ? { servers } : { servers, ...readLogin(login) };
};

const readLogin = (login: string): Pick<NatsAddress, "user" | "pass" | "token"> => {
  const colon = login.indexOf(":");
  if (colon < 0) return { token: decode(login) };
  return { user: decode(login.slice(0, colon)), pass: decode(login.slice(colon + 1)) };
};

/** A percent sign that encodes nothing stands for itself. */
const decode = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};
