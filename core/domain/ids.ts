import { hash, randomFillSync } from "node:crypto";
import { type IdKind, idPrefixes } from "../schema/vocabulary/id-prefixes.ts";

const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"; // Crockford base 32, as in the ULID specification

/** Makes an id that sorts by its time: prefix, `_`, ULID (48 bits of ms, 80 of randomness). */
export const newId = (kind: IdKind, now: Date): string => `${idPrefixes[kind]}_${ulid(now)}`;

/** Makes the id of a thing that follows from others: the same parts always give the same id (128 bits of SHA-256). */
export const derivedId = (kind: IdKind, ...parts: readonly string[]): string =>
  `${idPrefixes[kind]}_${derivedUlid(parts)}`;

/**
 * Makes the id of a thing that follows from others and has an instant: the same parts and instant always give the same
 * id (80 bits of SHA-256), and ids sort by the instant.
 */
export const derivedIdAt = (kind: IdKind, at: Date, ...parts: readonly string[]): string =>
  `${idPrefixes[kind]}_${encode(at.getTime(), hash("sha256", parts.join("\n"), "buffer").subarray(0, 10))}`;

/** What comes before all ids (or, without a kind, ULIDs) of an instant and later, and behind all earlier ones. */
export const beforeIdsOf = (kind: IdKind | null, at: Date): string =>
  (kind === null ? "" : `${idPrefixes[kind]}_`) + encodeTime(at.getTime());

let lastMs = 0;
const lastRandom = new Uint8Array(10);

/** A ULID: 26 characters that sort by time; within one ms of one process they grow, so that a page never splits a batch. */
export const ulid = (now: Date): string => {
  const ms = now.getTime();
  if (ms > lastMs) {
    lastMs = ms;
    randomFillSync(lastRandom);
    lastRandom[0] = (lastRandom[0] ?? 0) & 0x7f; // room to count up
    return encode(ms, lastRandom);
  }
  if (ms === lastMs) {
    increment(lastRandom);
    return encode(ms, lastRandom);
  }
  return encode(ms, randomFillSync(new Uint8Array(10))); // an older instant than the last one
};

const increment = (bytes: Uint8Array): void => {
  for (let i = bytes.length - 1; i >= 0; i--) {
    const next = ((bytes[i] ?? 0) + 1) & 0xff;
    bytes[i] = next;
    if (next !== 0) return;
  }
};

const encode = (ms: number, random: Uint8Array): string => encodeTime(ms) + base32(random);

/** Before 1970 there are no ids. */
const encodeTime = (ms: number): string => {
  let time = "";
  for (let i = 0, rest = Math.max(ms, 0); i < 10; i++, rest = Math.floor(rest / 32))
    time = alphabet.charAt(rest % 32) + time;
  return time;
};

/** 5 bits a character, most significant first; 10 bytes give 16 characters, 16 bytes 26. */
const base32 = (bytes: Uint8Array): string => {
  let text = "";
  let buffer = 0;
  let bits = (bytes.length * 8) % 5 === 0 ? 0 : 5 - ((bytes.length * 8) % 5); // leading zero bits
  for (const byte of bytes) {
    buffer = (buffer << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += alphabet.charAt((buffer >> bits) & 31);
    }
    buffer &= (1 << bits) - 1;
  }
  return text;
};

const derivedUlid = (parts: readonly string[]): string =>
  base32(hash("sha256", parts.join("\n"), "buffer").subarray(0, 16));
