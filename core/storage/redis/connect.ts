import { Redis } from "ioredis";
import type { OnCall } from "../../runtime/metrics/stores.ts";

/**
 * Opens Redis, for what may be lost. Commands fail within 250 ms while it is away and nothing queues up;
 * it reconnects by itself without end. Connection errors are given to `onError`, at most one for each attempt.
 */
export const connectRedis = ({ url, onError, onCall }: RedisOptions): Redis => {
  const redis = new Redis(url, {
    enableOfflineQueue: false, // a command while disconnected fails at once
    commandTimeout: 250,
    connectTimeout: 2_000,
    maxRetriesPerRequest: 0, // what was under way when the link broke fails instead of waiting for the next one
    enableReadyCheck: true,
    enableAutoPipelining: true, // commands of one turn of the loop share a write: 7 % of a small request's CPU
    retryStrategy: (attempt) => Math.min(100 * 2 ** Math.min(attempt - 1, 5), 2_000),
    reconnectOnError: (error) => error.message.startsWith("READONLY"), // a replica after a failover
  });
  redis.on("error", onError ?? (() => undefined)); // without a listener the process would end
  if (onCall !== undefined) timeCommands(redis, onCall);
  return redis;
};

export type RedisOptions = {
  url: string;
  onError?: (error: Error) => void;
  /** Gets the duration of each command that was answered. */
  onCall?: OnCall;
};

const timeCommands = (redis: Redis, onCall: OnCall): void => {
  const send = redis.sendCommand.bind(redis);
  const time = async (answer: Promise<unknown>): Promise<void> => {
    const beganMs = performance.now();
    await answer;
    onCall((performance.now() - beganMs) / 1_000);
  };
  redis.sendCommand = (command, stream) => {
    time(command.promise).catch(() => undefined); // who sent it hears of the failure
    return send(command, stream);
  };
};
