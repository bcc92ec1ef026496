/**
 * Instant named by a `Retry-After` header: delay in seconds or HTTP date, no earlier than now, no later than `mostMs`
 * from now; null when there is none or it cannot be read. Source: RFC 9110 10.2.3.
 */
export const retryAfter = (header: string | undefined, now: Date, mostMs: number): Date | null => {
  if (header === undefined) return null;
  const text = header.trim();
  const isDate = text.endsWith(" GMT"); // Date.parse alone reads much else, "-5" for one
  const delayMs = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(isDate ? text : "") - now.getTime();
  if (Number.isNaN(delayMs)) return null;
  return new Date(now.getTime() + Math.min(Math.max(delayMs, 0), mostMs));
};
