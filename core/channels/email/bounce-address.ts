import { hash } from "node:crypto";
import { type Signer, signer } from "../../domain/signer.ts";

/** Where mails about an account's mails come to. */
export type Bounces = { domain: string; password: string };

/** What comes to an address of ours: answers of mail servers, or a wish to get no more. */
export type BouncePurpose = "bounce" | "unsubscribe";

/** What signs an account's addresses. It follows from the secret that the mail server has, so that nothing else knows it. */
export const bounceSigner = ({ password }: Bounces): Signer =>
  signer([hash("sha256", `herald/bounces\n${password}`, "buffer")]);

/**
 * The address that tells which delivery a mail is about: `bounce+<delivery><signature>@<domain>`. Its local part has 63
 * characters, of 64 that RFC 5321 4.5.3.1.1 admits, and no upper case, which some servers do not keep.
 */
export const bounceAddress = (
  purpose: BouncePurpose,
  { domain, sign }: { domain: string } & Pick<Signer, "sign">,
  deliveryId: string,
): string => {
  const id = deliveryId.slice("dlv_".length).toLowerCase();
  return `${tags[purpose]}+${id}${sign(signedText({ purpose, deliveryId }))}@${domain}`;
};

const tags = { bounce: "bounce", unsubscribe: "unsub" } as const;

/** What an address of that form says. Whoever uses it looks whether it is signed. */
export type BounceAddress = { purpose: BouncePurpose; deliveryId: string; signature: string };

/** The first address of that form in a mail: that which it came to, or that of the mail which it is about. */
export const addressIn = (mail: string): BounceAddress | null => {
  const [, tag, id = "", signature = ""] =
    /\b(bounce|unsub)\+([0-9a-hjkmnp-tv-z]{26})([0-9a-f]{30})@/i.exec(mail) ?? [];
  if (tag === undefined) return null;
  const purpose = tag.toLowerCase() === "unsub" ? "unsubscribe" : "bounce";
  return { purpose, deliveryId: `dlv_${id.toUpperCase()}`, signature: signature.toLowerCase() };
};

/** Whether an address is one that we made. */
export const isOurs = ({ isSigned }: Pick<Signer, "isSigned">, address: BounceAddress): boolean =>
  isSigned(signedText(address), address.signature);

const signedText = ({ purpose, deliveryId }: Pick<BounceAddress, "purpose" | "deliveryId">): string =>
  `${purpose}\n${deliveryId}`;
