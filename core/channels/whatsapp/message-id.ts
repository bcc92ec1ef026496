import { hash } from "node:crypto";

/**
 * Meta's id of a message as it is kept: its SHA-256, because the id itself (`wamid.…`) is base64 of the recipient's number
 * among others, and outlives the erasure of a person.
 */
export const keptMessageId = (wamid: string): string => hash("sha256", wamid, "base64url");
