import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { signer } from "../../domain/signer.ts";
import { Unavailable } from "../../errors.ts";

/** A secret at rest: AES-256-GCM under the key named by `kid`; `data` is base64 of nonce (12), ciphertext, tag (16). */
export type Sealed = { kid: string; data: string };

export type KeyRing = ReturnType<typeof keyRing>;

/** A key ring that cannot be read, or a secret that cannot be opened with it. Names no key and no secret. */
export class KeyRingError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "KeyRingError";
  }
}

/** What `open` opens with a key ring; null when something cannot be opened any more: it was altered, or its key is gone. */
export const ifOpenable = <T>(open: () => T): T | null => {
  try {
    return open();
  } catch (error) {
    if (error instanceof KeyRingError) return null;
    throw error;
  }
};

/**
 * Opens what all replicas share. One that has not got the newest key of the key ring yet cannot: another can.
 * @throws Unavailable, naming `what`
 */
export const openShared = (open: KeyRing["open"], sealed: Sealed, context: string, what: string): string => {
  try {
    return open(sealed, context);
  } catch (cause) {
    throw cause instanceof KeyRingError ? new Unavailable(what, { cause }) : cause;
  }
};

const keyBytes = 32;
const nonceBytes = 12; // NIST SP 800-38D, 5.2.1.1: recommended for GCM
const tagBytes = 16;
const maxKeys = 1_000;

/**
 * Seals secrets at rest, by lines or a comma list of `kid:base64(32 bytes)`, AES-256-GCM. The first key writes, all
 * read. `context`, e.g. `apps/app_…/ios_push.private_key`, is bound to what is sealed and is needed to open it again.
 */
export const keyRing = (text: string) => {
  const keys = readKeys(text);
  const [first] = keys;
  if (first === undefined) throw new KeyRingError("the key ring holds no key");
  const [kid, key] = first;
  return {
    /** The names of the keys. */
    kids: [...keys.keys()] as readonly string[],
    seal: (plain: string, context: string): Sealed => ({ kid, data: encrypt(key, plain, context) }),
    /** @throws KeyRingError when the key is unknown, or the data or its context is not what was sealed */
    open: (sealed: Sealed, context: string): string => {
      const reader = keys.get(sealed.kid);
      if (reader === undefined) throw new KeyRingError(`no key ${sealed.kid} in the key ring to open ${context}`);
      return decrypt(reader, sealed, context);
    },
    /** Whether a secret was sealed under an older key and should be sealed again. */
    isStale: (sealed: Sealed): boolean => sealed.kid !== kid,
    /** 32 bytes for another purpose, that follow from the first key. */
    derive: (purpose: string): Buffer => derived(key, purpose),
    /** Signs for a purpose with what follows from the first key; what follows from any key is known. */
    signer: (purpose: string) => {
      const [, ...others] = [...keys.values()].map((one) => derived(one, purpose));
      return signer([derived(key, purpose), ...others]);
    },
  };
};

/** HKDF, RFC 5869. */
const derived = (key: Buffer, purpose: string): Buffer =>
  Buffer.from(hkdfSync("sha256", key, "", `herald/${purpose}`, keyBytes));

const readKeys = (text: string): Map<string, Buffer> => {
  const lines = text.split(/[\n,]/).flatMap((line) => line.trim() || []);
  if (lines.length > maxKeys) throw new KeyRingError(`the key ring holds more than ${maxKeys} keys`);
  const keys = new Map<string, Buffer>();
  for (const [index, line] of lines.entries()) {
    const [, kid, base64] = /^([A-Za-z0-9_.-]{1,64}):([A-Za-z0-9+/]{43}=)$/.exec(line) ?? [];
    if (kid === undefined || base64 === undefined) {
      throw new KeyRingError(`entry ${index + 1} of the key ring is not kid:base64(${keyBytes} bytes)`);
    }
    if (keys.has(kid)) throw new KeyRingError(`the key ring names ${kid} twice`);
    keys.set(kid, Buffer.from(base64, "base64"));
  }
  return keys;
};

const encrypt = (key: Buffer, plain: string, context: string): string => {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(context));
  return Buffer.concat([nonce, cipher.update(plain, "utf8"), cipher.final(), cipher.getAuthTag()]).toString("base64");
};

const decrypt = (key: Buffer, { kid, data }: Sealed, context: string): string => {
  const bytes = Buffer.from(data, "base64");
  try {
    const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes });
    decipher.setAAD(Buffer.from(context)).setAuthTag(bytes.subarray(-tagBytes));
    return Buffer.concat([decipher.update(bytes.subarray(nonceBytes, -tagBytes)), decipher.final()]).toString("utf8");
  } catch (cause) {
    throw new KeyRingError(`${context} cannot be opened with key ${kid}: altered, or sealed for another place`, {
      cause,
    });
  }
};
