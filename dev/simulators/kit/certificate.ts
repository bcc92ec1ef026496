import { generateKeyPairSync, randomBytes, sign } from "node:crypto";

export type Certificate = { cert: string; key: string };

const validForYears = 10;

/** Who vouches for the simulators: their own certificates do. */
export const simulatorsName = "herald simulators";

/**
 * A self-signed certificate for `localhost`, 127.0.0.1, ::1 and further IPv4 addresses, that is its own authority: what trusts `cert` as `ca`
 * trusts the server. Written here in DER because neither Node nor a fresh machine brings a tool for it.
 */
export const selfSigned = (now = new Date(), addresses: readonly string[] = []): Certificate => {
  const until = new Date(now);
  until.setUTCFullYear(now.getUTCFullYear() + validForYears);
  const from = new Date(now.getTime() - backdatedMs);
  return issued({ name: simulatorsName, extensions: [isAuthority, alternativeNames(addresses)], from, until });
};

/** An authority, which signs with its own key unless another one is named. */
export const authority = (name: string, by?: Issuer): Issuer => ({
  name,
  ...issued({ name, extensions: [isAuthority], ...always, ...(by && { by }) }),
});

const always = { from: new Date("2020-01-01T00:00:00Z"), until: new Date("2100-01-01T00:00:00Z") };

/** A certificate of a name that an authority vouches for; one that is always valid when left out. */
export const issuedBy = (by: Issuer, name: string, validity: Partial<Validity> = {}): Certificate =>
  issued({
    name,
    by,
    extensions: [extension(namesId, sequence(der(0x82, Buffer.from(name))))],
    ...always,
    ...validity,
  });

/** A certificate for servers and clients of this machine that an authority vouches for, always valid. */
export const issuedForLoopback = (by: Issuer, name: string): Certificate =>
  issued({ name, by, extensions: [alternativeNames([])], ...always });

export type Issuer = Certificate & { name: string };
export type Validity = { from: Date; until: Date };

const issued = ({
  name,
  by,
  extensions,
  from,
  until,
}: Validity & { name: string; by?: Issuer; extensions: readonly Buffer[] }): Certificate => {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const body = sequence(
    der(0xa0, der(0x02, Buffer.of(2))), // version 3
    der(0x02, Buffer.concat([Buffer.of(1), randomBytes(15)])),
    ecdsaWithSha256,
    commonName(by?.name ?? name),
    sequence(time(from), time(until)),
    commonName(name),
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(...extensions)),
  );
  const signature = der(0x03, Buffer.concat([Buffer.of(0), sign("sha256", body, by?.key ?? privateKey)]));
  const certificate = sequence(body, ecdsaWithSha256, signature).toString("base64");
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${certificate.replace(/(.{64})/g, "$1\n").trimEnd()}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
};

const backdatedMs = 3_600_000; // clocks differ, and are put back: authorities do the same

const der = (tag: number, ...contents: readonly Buffer[]): Buffer => {
  const content = Buffer.concat(contents);
  if (content.length < 128) return Buffer.concat([Buffer.of(tag, content.length), content]);
  const size = content.length < 256 ? [0x81, content.length] : [0x82, content.length >> 8, content.length & 255];
  return Buffer.concat([Buffer.of(tag, ...size), content]); // the shortest form: Go's programs refuse others
};

const sequence = (...members: readonly Buffer[]): Buffer => der(0x30, ...members);
const oid = (...bytes: readonly number[]): Buffer => der(0x06, Buffer.from(bytes));
const ecdsaWithSha256 = sequence(oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02)); // 1.2.840.10045.4.3.2

const commonName = (name: string): Buffer =>
  sequence(der(0x31, sequence(oid(0x55, 0x04, 0x03), der(0x0c, Buffer.from(name))))); // 2.5.4.3

const time = (instant: Date): Buffer =>
  der(0x18, Buffer.from(`${instant.toISOString().replace(/\D/g, "").slice(0, 14)}Z`)); // GeneralizedTime

const extension = (id: Buffer, value: Buffer): Buffer => sequence(id, der(0x04, value));
const isAuthority = extension(oid(0x55, 0x1d, 0x13), sequence(der(0x01, Buffer.of(255)))); // basicConstraints, CA

const namesId = oid(0x55, 0x1d, 0x11); // subjectAltName

const alternativeNames = (addresses: readonly string[]): Buffer =>
  extension(
    namesId,
    sequence(
      der(0x82, Buffer.from("localhost")),
      ...["127.0.0.1", ...addresses].map((address) => der(0x87, Buffer.from(address.split(".").map(Number)))),
      der(0x87, Buffer.concat([Buffer.alloc(15), Buffer.of(1)])),
    ),
  );
