import type { Signer } from "../../domain/signer.ts";

/** What the links of ours in a mail do, by the first part of their path. Source: docs/reference/email.md#links. */
export const linkKinds = { o: "open", c: "click", u: "unsubscribe" } as const;
export type LinkKind = keyof typeof linkKinds;

/** What the key ring's signer of links is for. */
export const linksPurpose = "links";

/** What a link is about. `to` is where a click leads, whose subscription it unsubscribes, or "" in others. */
export type Link = { appId: string; deliveryId: string; to: string };

/** The address of a link of ours below `base`. */
export const linkAddress = (base: string, signer: Pick<Signer, "sign">, kind: LinkKind, link: Link): string => {
  const { appId, deliveryId, to } = link;
  const parts = [appId, deliveryId, signer.sign(signedText(kind, link))];
  return `${base}/${kind}/${[...parts, ...(to === "" ? [] : [Buffer.from(to).toString("base64url")])].join(".")}`;
};

/** What the last part of a link's path says; null when we did not sign it for this kind. */
export const readLink = (signer: Pick<Signer, "isSigned">, kind: LinkKind, token: string): Link | null => {
  const [, appId, deliveryId, signature, target = ""] = linkToken.exec(token) ?? [];
  if (appId === undefined || deliveryId === undefined || signature === undefined) return null;
  const link = { appId, deliveryId, to: Buffer.from(target, "base64url").toString() };
  return signer.isSigned(signedText(kind, link), signature) ? link : null;
};

const linkToken = /^(app_[0-9A-Z]{26})\.(dlv_[0-9A-Z]{26})\.([0-9a-f]{30})(?:\.([\w-]{1,2700}))?$/;

const signedText = (kind: LinkKind, { appId, deliveryId, to }: Link): string =>
  [linkKinds[kind], appId, deliveryId, to].join("\n");
