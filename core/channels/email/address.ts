import { domainToASCII } from "node:url";

/** Lower case, the domain in its ASCII form (RFC 5891). Null for what is no address (RFC 5321 4.5.3.1 bounds). */
export const normalised = (given: string): string | null => {
  const at = given.lastIndexOf("@");
  const local = given.slice(0, at).toLowerCase();
  const domain = domainToASCII(given.slice(at + 1)).toLowerCase();
  const isLocal = /^[^\s@"(),:;<>[\\\]\p{Cc}]{1,64}$/u.test(local) && !/^\.|\.\.|\.$/.test(local);
  const isDomain = /^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9][a-z0-9-]{0,62}$/.test(domain);
  return at > 0 && isLocal && isDomain ? `${local}@${domain}` : null;
};
