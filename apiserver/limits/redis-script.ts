import { createHash } from "node:crypto";
import type { Redis } from "ioredis";

/** Runs a Lua script by its hash, so that its text goes over the wire only when Redis does not know it. */
export const redisScript = (redis: Pick<Redis, "eval" | "evalsha">, lua: string) => {
  const sha = createHash("sha1").update(lua).digest("hex");
  return async (key: string, ...values: readonly number[]): Promise<unknown> => {
    try {
      return await redis.evalsha(sha, 1, key, ...values);
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith("NOSCRIPT")) throw error;
      return redis.eval(lua, 1, key, ...values);
    }
  };
};
