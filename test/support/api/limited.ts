import { expect } from "chai";

/**
 * Asks until it is refused by a rate, and judges how often that was: `burst` times, and as often more as places came back
 * meanwhile, one each `everyMs`. Gives all replies; the last one is the refusal.
 */
export const untilLimited = async <Reply extends { status: number }>(
  ask: () => Promise<Reply>,
  { burst, everyMs }: { burst: number; everyMs: number },
): Promise<Reply[]> => {
  const [replies, beganMs]: [Reply[], number] = [[], performance.now()];
  while (replies.at(-1)?.status !== 429) replies.push(await ask());
  const cameBack = Math.ceil((performance.now() - beganMs) / everyMs);
  expect(replies.length - 1, "times until it is refused").to.be.within(burst, burst + cameBack);
  return replies;
};

export const tenAMinute = { burst: 10, everyMs: 6_000 };
