import { isDeepStrictEqual } from "node:util";
import { BadSecret } from "#core/channels/kit/secret-text.ts";
import { ifOpenable, type KeyRing } from "#core/runtime/process/key-ring.ts";
import type { WebhookSpec } from "#core/schema/webhooks/resource.ts";
import { webhookLimits } from "#core/schema/webhooks/webhook.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import type { Finding } from "../conditions.ts";
import { fromSecrets, type SecretValues } from "../secret-reader.ts";

export type Header = { name: string; value: string };

/** The headers that a Webhook asks for, or what is wrong with its Secrets. */
export const headersOf = (
  { headers = [] }: WebhookSpec,
  secrets: SecretValues,
): { headers: Header[] } | { finding: Finding } =>
  fromSecrets(secrets, (read) => ({
    headers: headers.map(({ name, value = "", valueFrom }): Header => {
      const ref = valueFrom?.secretKeyRef;
      return { name, value: ref === undefined ? value : read(ref, ref.key, headerValue, `spec.headers, ${name}`) };
    }),
  }));

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
  keyRing: KeyRing,
  id: string,
  headers: readonly Header[],
  stored: WebhookRow["headers"],
): WebhookRow["headers"] => {
  const isStale = stored.some(({ value }) => keyRing.isStale(value));
  const opened = ifOpenable(() =>
    stored.map(({ name, value }) => ({ name, value: keyRing.open(value, contextOf(id, name)) })),
  );
  if (!isStale && isDeepStrictEqual(opened, headers)) return stored;
  return headers.map(({ name, value }) => ({ name, value: keyRing.seal(value, contextOf(id, name)) }));
};

const contextOf = (id: string, name: string): string => `webhooks/${id}/headers/${name}`;
