import { X509Certificate } from "node:crypto";

/** Certificates of authorities that are trusted, by their name. */
export type Authorities = ReadonlyMap<string, readonly X509Certificate[]>;

/** @throws Error when one is no certificate (PEM) */
export const authoritiesOf = (pems: readonly string[]): Authorities =>
  Map.groupBy(
    pems.map((pem) => new X509Certificate(pem)),
    ({ subject }) => subject,
  );
