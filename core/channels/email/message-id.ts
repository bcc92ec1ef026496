import { domainToASCII } from "node:url";

/** The Message-ID of the mail of a delivery, without brackets: the same in every try, so that a receiver can tell a repeat. */
export const messageIdOf = (deliveryId: string, from: string): string => `${deliveryId}@${domainOf(from)}`;

/** In ASCII, as headers ask: RFC 5322 3.6.4. */
export const domainOf = (address: string): string => {
  const domain = address.slice(address.lastIndexOf("@") + 1).toLowerCase();
  return domainToASCII(domain) || domain;
};
