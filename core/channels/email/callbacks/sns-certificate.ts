import { type KeyObject, X509Certificate } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Authorities } from "../../kit/authorities.ts";
import { amazonIntermediates } from "./amazon-intermediates.ts";
import type { SnsTopic } from "./sns-topic.ts";

/** The key of a certificate, or why that is not one of Amazon SNS. */
export type Vouched = { key: KeyObject } | { problem: string };

/**
 * Judges certificates (PEM) that Amazon SNS is said to sign with: whether one is of the region of the topic and was valid at
 * an instant, and whether an authority vouches for it. What comes behind it in the text may be intermediate ones. Amazon
 * serves it alone (2026-11), so that those of Amazon are known here, too; others can be had in `NODE_EXTRA_CA_CERTS`.
 */
export const snsCertificates = (trusted: Authorities) => {
  const judged = new LRUCache<string, Vouched>({ max: 256 }); // a judgement takes a millisecond
  return (pem: string, { topic, at }: { topic: SnsTopic; at: Date }): Vouched => {
    const hour = Math.floor(at.getTime() / 3_600_000);
    const name = `${hour} ${topic.region} ${topic.suffix} ${pem}`;
    const found = judged.get(name) ?? judge(pem, { topic, at, trusted });
    judged.set(name, found);
    return found;
  };
};

const judge = (pem: string, { topic, at, trusted }: { topic: SnsTopic; at: Date; trusted: Authorities }): Vouched => {
  const [own, ...given] = certificatesIn(pem);
  if (own === undefined) return { problem: "there is no certificate" };
  if (!namesOf(topic).some((name) => own.checkHost(name, { wildcards: false }) !== undefined))
    return { problem: `the certificate is not of Amazon SNS in that region, but of ${own.subject.slice(0, 200)}` };
  if (!isValidAt(own, at)) return { problem: "the certificate was not valid then" };
  const between = [...given, ...amazonIntermediates()];
  return isTrusted(own, { at, between, trusted }, longestChain)
    ? { key: own.publicKey }
    : { problem: `no authority vouches for the certificate's issuer: ${own.issuer.slice(0, 200)}` };
};

const certificatesIn = (pem: string): X509Certificate[] =>
  (pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [])
    .slice(0, mostCertificates)
    .flatMap((text) => {
      try {
        return [new X509Certificate(text)];
      } catch {
        return []; // none after all
      }
    });

const mostCertificates = 5;
const longestChain = 3; // intermediate ones

/**
 * Whose the certificate is. Source: AWS SDK for Java 2.x, sns-message-manager, `SnsHostProvider` (2026-11): regions that are
 * on for everybody share a name, the others have their own.
 */
const namesOf = ({ region, suffix }: SnsTopic): string[] => [
  ...(suffix === "amazonaws.com" ? ["sns.amazonaws.com"] : []),
  `sns.${region}.${suffix}`,
  `sns-signing.${region}.${suffix}`,
  `sns-${region}.${suffix}`,
  ...(region === "us-gov-east-1" ? ["sns-us-gov-west-1.amazonaws.com"] : []),
];

const isValidAt = ({ validFromDate, validToDate }: X509Certificate, at: Date): boolean =>
  validFromDate <= at && at <= validToDate;

type Chain = { at: Date; between: readonly X509Certificate[]; trusted: Authorities };

/** Whether a chain of at most `left` intermediate certificates leads to an authority. */
const isTrusted = (one: X509Certificate, chain: Chain, left: number): boolean => {
  const isIssuedBy = (by: X509Certificate): boolean =>
    by.ca && isValidAt(by, chain.at) && one.checkIssued(by) && one.verify(by.publicKey);
  if ((chain.trusted.get(one.issuer) ?? []).some(isIssuedBy)) return true;
  return left > 0 && chain.between.some((by) => isIssuedBy(by) && isTrusted(by, chain, left - 1));
};
