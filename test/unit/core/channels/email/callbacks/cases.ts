/** What each event of a provider is, in one word; `expect` null: nothing. */
export type Case = { it: string; event: object; expect: string | null };

export const deliveryId = "dlv_01JDKQ4WSM7R0DMS3H8TQY5WFB";
export const at = "2026-11-22T12:00:00.000Z";
export const seconds = Date.parse(at) / 1_000;
