import { domainToASCII } from "node:url";
import type { SendableChannel } from "../schema/vocabulary/channels.ts";

export type Checked = { ok: true; address: string } | { ok: false; problem: string };

/** The one spelling of an address under which its channel keeps it, or why it cannot be one. */
export const checkAddress = (channel: SendableChannel, given: string): Checked => checks[channel](given.trim());

const checks: Record<SendableChannel, (given: string) => Checked> = {
  // Apple does not promise a length: 32 bytes today, up to 100 in Live Activities; always hexadecimal here.
  ios_push: (given) =>
    /^([0-9A-Fa-f]{2}){32,200}$/.test(given) ? good(given.toLowerCase()) : bad("must be 64 or more hexadecimal digits"),

  // `<installation id>:APA91b…`, about 160 characters; Google documents neither length nor alphabet.
  android_push: (given) =>
    /^[A-Za-z0-9_:.%-]{20,4096}$/.test(given) ? good(given) : bad("must be a registration token of FCM"),

  web_push: (given) => (isEndpoint(given) ? good(given) : bad("must be the https endpoint of a PushSubscription")),

  email: (given) => {
    const address = normaliseMail(given);
    return address === null ? bad("must be an e-mail address") : good(address);
  },
};

const good = (address: string): Checked => ({ ok: true, address });
const bad = (problem: string): Checked => ({ ok: false, problem });

/** Plain http is for simulators and tests on this machine. */
const isEndpoint = (given: string): boolean => {
  const url = given.length <= 2000 ? URL.parse(given) : null;
  if (url === null || url.username !== "" || url.hash !== "") return false;
  const isLoopback = ["127.0.0.1", "[::1]", "localhost"].includes(url.hostname);
  return url.protocol === "https:" || (url.protocol === "http:" && isLoopback);
};

/** Lower case, the domain in its ASCII form (RFC 5891). Null for what is no address (RFC 5321 4.5.3.1 bounds). */
const normaliseMail = (given: string): string | null => {
  const at = given.lastIndexOf("@");
  const local = given.slice(0, at).toLowerCase();
  const domain = domainToASCII(given.slice(at + 1)).toLowerCase();
  const isLocal = /^[^\s@"(),:;<>[\\\]\p{Cc}]{1,64}$/u.test(local) && !/^\.|\.\.|\.$/.test(local);
  const isDomain = /^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9][a-z0-9-]{0,62}$/.test(domain);
  return at > 0 && isLocal && isDomain ? `${local}@${domain}` : null;
};
