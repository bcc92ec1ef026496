import { hash, randomInt } from "node:crypto";
import { decodeTime, monotonicFactory, encodeTime as timeOf } from "ulid";
import { type IdKind, idPrefixes } from "../schema/vocabulary/id-prefixes.ts";

const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"; // Crockford base 32, as in the ULID specification

/** Makes an id that sorts by its time: prefix, `_`, ULID (48 bits of ms, 80 of randomness). */
export const newId = (kind: IdKind, now: Date): string => `${idPrefixes[kind]}_${ulid(now)}`;

/** Makes the id of a thing that follows from others: the same parts always give the same id (128 bits of SHA-256). */
export const derivedId = (kind: IdKind, ...parts: readonly string[]): string =>
  `${idPrefixes[kind]}_${base32(hashOf(parts), 16)}`;

/**
 * Makes the id of a thing that follows from others and has an instant: the same parts and instant always give the same
 * id (80 bits of SHA-256), and ids sort by the instant.
 */
export const derivedIdAt = (kind: IdKind, at: Date, ...parts: readonly string[]): string =>
  `${idPrefixes[kind]}_${encodeTime(at.getTime())}${base32(hashOf(parts), 10)}`;

/** What comes before all ids (or, without a kind, ULIDs) of an instant and later, and behind all earlier ones. */
export const beforeIdsOf = (kind: IdKind | null, at: Date): string =>
  (kind === null ? "" : `${idPrefixes[kind]}_`) + encodeTime(at.getTime());

/** The instant that an id of {@link newId} or {@link derivedIdAt} was made for. */
export const instantOfId = (id: string): Date => new Date(decodeTime(id.slice(id.indexOf("_") + 1)));

const random = (): number => randomInt(32) / 32; // Node keeps random bytes in stock; the library asks anew for each character
/** What gives the ids of the instants that were asked for last, the latest at the end: a clock may be put back. */
const sequences = new Map<number, () => string>();
const mostSequences = 16;
let latestMs = 0;

/** A ULID: 26 characters that sort by time; within one ms of one process they grow, so that a page never splits a batch. */
export const ulid = (now: Date): string => {
  const ms = Math.max(now.getTime(), 1); // the library takes 0 for now
  const sequence = sequences.get(ms) ?? sequenceFrom(ms);
  if (ms !== latestMs) keepAsLatest(ms, sequence);
  return sequence();
};

const sequenceFrom = (ms: number): (() => string) => {
  const increasing = monotonicFactory(random);
  return () => increasing(ms);
};

const keepAsLatest = (ms: number, sequence: () => string): void => {
  latestMs = ms;
  sequences.delete(ms);
  const [oldest] = sequences.keys();
  if (sequences.size >= mostSequences && oldest !== undefined) sequences.delete(oldest);
  sequences.set(ms, sequence);
};

/** Before 1970 there are no ids. */
const encodeTime = (ms: number): string => timeOf(Math.max(ms, 0));

/** The first bytes of a hash, 5 bits a character, most significant first; 10 bytes give 16 characters, 16 bytes 26. */
const base32 = (hashed: string, bytes: number): string => {
  let length = 0;
  let buffer = 0;
  let bits = (bytes * 8) % 5 === 0 ? 0 : 5 - ((bytes * 8) % 5); // leading zero bits
  for (let at = 0; at < bytes; at++) {
    buffer = (buffer << 8) | hashed.charCodeAt(at);
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      characters[length++] = alphabet.charCodeAt((buffer >> bits) & 31);
    }
    buffer &= (1 << bits) - 1;
  }
  return characters.toString("latin1", 0, length);
};

/** Written and read within one call: a text that grows by a character is copied for each. */
const characters = Buffer.alloc(26);

/** A character for each byte: a Buffer for each hash costs three times as much as the hash. */
const hashOf = (parts: readonly string[]): string => hash("sha256", parts.join("\n"), "binary");
