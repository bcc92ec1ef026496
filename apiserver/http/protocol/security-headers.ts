/**
 * What every reply has, unless a page needs something else. Replies belong to a key: nobody may keep them. No browser is
 * to guess their type, run or frame them, or tell others where it was; and one that has come by https is to come so again
 * (RFC 6797). Source: OWASP REST Security Cheat Sheet, "Security Headers".
 */
export const securityHeaders = (publicUrl: string): Readonly<Record<string, string>> => ({
  "Cache-Control": "no-store",
  "X-Content-Type-Options": "nosniff",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  "Referrer-Policy": "no-referrer",
  ...(publicUrl.startsWith("https:") && { "Strict-Transport-Security": "max-age=31536000" }),
});
