import type { Clock } from "#core/domain/clock.ts";
import { sourceOf } from "../../http/middleware/edge-limit.ts";
import { localBuckets } from "../../limits/rate.ts";

/** What one apiserver takes over SMTP. Source: docs/reference/mail.md#over-smtp. */
export const smtpBounds = {
  connections: 100,
  connectionsOfSource: 20,
  /** From the greeting on, whatever is said in it. */
  sessionMs: 600_000,
  /** Without a byte. */
  idleMs: 60_000,
  recipients: 10,
  /** Of all mails that are being taken at a moment, in memory. */
  heldBytes: 44 * 1024 * 1024,
} as const;

const mostNames = 50_000; // 200 bytes each; the least recently seen are forgotten
/** Mails of one source address, which may be the mail server of many apps, and for one app. */
const mails = { ofSource: { capacity: 500, perSecond: 50 }, ofApp: { capacity: 1_000, perSecond: 100 } };
/** Recipients of one source address that are nobody: each may cost a read of MongoDB. */
const toNobody = { capacity: 100, perSecond: 2 };

/** Counts what each address does, in this process. */
export const smtpLimits = (clock: Clock) => {
  const buckets = localBuckets({ max: mostNames, clock });
  const open = new Map<string, number>();
  let heldBytes = 0;
  return {
    /** Whether one more connection of the address may be. Each that may is to be given back. */
    connect: (ip: string): boolean => {
      const count = open.get(sourceOf(ip)) ?? 0;
      if (count >= smtpBounds.connectionsOfSource) return false;
      open.set(sourceOf(ip), count + 1);
      return true;
    },
    disconnect: (ip: string): void => {
      const count = open.get(sourceOf(ip)) ?? 0;
      if (count > 1) open.set(sourceOf(ip), count - 1);
      else open.delete(sourceOf(ip));
    },
    /** Whether an address may still name recipients: too many were nobody otherwise. */
    mayName: (ip: string): boolean => buckets.look(`nobody ${sourceOf(ip)}`, toNobody).isAllowed,
    namedNobody: (ip: string): void => void buckets.take(`nobody ${sourceOf(ip)}`, toNobody),
    maySend: (ip: string): boolean => buckets.take(`source ${sourceOf(ip)}`, mails.ofSource).isAllowed,
    mayReach: (appId: string): boolean => buckets.take(appId, mails.ofApp).isAllowed,
    /** Whether there is room for so many more bytes of mails. Those for which there was are to be given back. */
    hold: (bytes: number): boolean => {
      if (heldBytes + bytes > smtpBounds.heldBytes) return false;
      heldBytes += bytes;
      return true;
    },
    release: (bytes: number): void => {
      heldBytes -= bytes;
    },
  };
};

export type SmtpLimits = ReturnType<typeof smtpLimits>;
