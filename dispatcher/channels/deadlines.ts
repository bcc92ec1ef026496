import type { SendableChannel } from "#core/schema/vocabulary/channels.ts";

/**
 * How long one send may take once it has begun, ms. Push services answer in a second, and a mail server may look through
 * a mail before it answers: RFC 5321 4.5.3.2 admits minutes, but what is not answered by the end of the grace is lost.
 */
export const sendTimeoutsMs: Readonly<Record<SendableChannel, number>> = {
  ios_push: 20_000,
  android_push: 20_000,
  web_push: 10_000,
  email: 45_000,
};

/** Left of the grace for storing what became of the last sends. */
export const reserveMs = 5_000;

/**
 * The time of one send of a program with this grace: never longer than the grace, so that what was begun before SIGTERM
 * has its outcome, and it is stored, before the program ends.
 */
export const sendTimeoutMs = (channel: SendableChannel, graceMs: number): number =>
  Math.min(sendTimeoutsMs[channel], Math.max(graceMs - reserveMs, graceMs / 2));
