import { isDeepStrictEqual } from "node:util";
import { BadSecret } from "#core/channels/kit/secret-text.ts";
import { type KeyRing, KeyRingError } from "#core/runtime/process/key-ring.ts";
import type { WebhookSpec } from "#core/schema/webhooks/resource.ts";
import { webhookLimits } from "#core/schema/webhooks/webhook.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import type { Finding } from "../conditions.ts";
import { type Fault, faultFinding, reader, type SecretValues } from "../secret-reader.ts";

export type Header = { name: string; value: string };

/** The headers that a Webhook asks for, or what is wrong with its Secrets. No message quotes a value. */
export const headersOf = (
  { headers = [] }: WebhookSpec,
  secrets: SecretValues,
): { headers: Header[] } | { finding: Finding } => {
  const faults: Fault[] = [];
  const read = reader(secrets, faults);
  const made = headers.map(({ name, value = "", valueFrom }): Header => {
    const ref = valueFrom?.secretKeyRef;
    return { name, value: ref === undefined ? value : read(ref, ref.key, headerValue, "") };
  });
  const finding = faultFinding(faults);
  return finding === null ? { headers: made } : { finding };
};

/** The names of the Secrets that a Webhook reads. */
export const headerSecretsOf = ({ headers = [] }: WebhookSpec): string[] => {
  const names = headers.map(({ valueFrom }) => valueFrom?.secretKeyRef.name);
  return [...new Set(names.filter((name) => name !== undefined))];
};

/** Checks a Secret's value as the resource's schema checks one that is written there. */
const headerValue = (text: string): string => {
  if (text.length > webhookLimits.headerValueCharacters) {
    throw new BadSecret(`is longer than ${webhookLimits.headerValueCharacters} characters`);
  }
  if (!/^[\t\x20-\x7e]*$/.test(text)) throw new BadSecret("holds other characters than printable ASCII");
  return text;
};

/**
 * Seals headers for storage. What is stored already is kept when it opens to the same, so that a resync writes nothing.
 */
export const sealHeaders = (
  ring: KeyRing,
  id: string,
  headers: readonly Header[],
  stored: WebhookRow["headers"],
): WebhookRow["headers"] => {
  const isStale = stored.some(({ value }) => ring.isStale(value));
  if (!isStale && isDeepStrictEqual(openHeaders(ring, id, stored), headers)) return stored;
  return headers.map(({ name, value }) => ({ name, value: ring.seal(value, contextOf(id, name)) }));
};

const contextOf = (id: string, name: string): string => `webhooks/${id}/headers/${name}`;

/** Null when one cannot be opened any more: it was altered, or its key is gone. */
const openHeaders = (ring: KeyRing, id: string, stored: WebhookRow["headers"]): Header[] | null => {
  try {
    return stored.map(({ name, value }) => ({ name, value: ring.open(value, contextOf(id, name)) }));
  } catch (error) {
    if (error instanceof KeyRingError) return null;
    throw error;
  }
};
