import { hash } from "node:crypto";
import { checkPhone } from "../kit/phone.ts";
import { memberOf } from "../kit/reading.ts";

/** A number as Meta writes it, without its `+`; null for what is none. */
export const numberOf = (given: unknown): string | null => {
  const number = checkPhone(`+${String(given)}`);
  return number.ok ? number.address : null;
};

/** The instant of a message or status: Meta writes seconds since 1970, as text. Null for what is none. */
export const instantOf = (of: unknown): Date | null => {
  const at = new Date(Number(memberOf(of, "timestamp")) * 1_000);
  return Number.isNaN(at.getTime()) ? null : at;
};

/**
 * Meta's id of a message as it is kept: its SHA-256, because the id itself (`wamid.…`) is base64 of the recipient's number
 * among others, and outlives the erasure of a person.
 */
export const keptMessageId = (wamid: string): string => hash("sha256", wamid, "base64url");
