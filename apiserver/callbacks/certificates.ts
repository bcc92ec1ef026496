import type { Clock } from "#core/domain/clock.ts";
import { Unavailable } from "#core/errors.ts";
import { cached } from "#core/storage/settings/cached.ts";

const mostBytes = 16_384;
const timeoutMs = 5_000;
const kept = { ttlMs: 86_400_000, max: 32 }; // a provider has a handful, and names each by another address

/**
 * Gives the certificate (PEM) at an https address, which has to be one of the provider's own.
 * @throws Unavailable when it cannot be had now
 */
export const certificates = ({ clock, get = fetch }: { clock: Clock; get?: typeof fetch }) => {
  const load = async (url: string): Promise<string> => {
    try {
      const reply = await get(url, { redirect: "error", signal: AbortSignal.timeout(timeoutMs) });
      const text = reply.ok ? await bounded(reply) : "";
      if (!text.includes("-----BEGIN CERTIFICATE-----")) throw new Error(`no certificate: ${reply.status}`);
      return text;
    } catch (cause) {
      throw new Unavailable("the provider's certificate", { cause });
    }
  };
  return cached({ load, ...kept, clock }).get;
};

const bounded = async ({ body }: Response): Promise<string> => {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of body ?? []) {
    bytes += part.length;
    if (bytes > mostBytes) throw new Error("the certificate is too large");
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
};
