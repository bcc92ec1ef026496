import { Cluster, Redis, type RedisOptions } from "ioredis";
import type { OnCall } from "../../runtime/metrics/stores.ts";
import type { Certificates } from "../../runtime/tls/certificates.ts";

/** Redis, or a Redis Cluster: a command of several keys needs all of them in one slot there. */
export type RedisClient = Redis | Cluster;

/**
 * Opens Redis, for what may be lost. Commands fail within 250 ms while it is away and nothing queues up;
 * it reconnects by itself without end. Connection errors are given to `onError`, at most one for each attempt.
 */
export const connectRedis = ({ url, tls, onError, onCall }: ConnectRedis): RedisClient => {
  const redis = isCluster(url) ? openCluster(url, tls) : new Redis(url, { ...alone, ...options, ...shown(tls) });
  redis.on("error", onError ?? (() => undefined)); // without a listener the process would end
  if (onCall !== undefined) timeCommands(redis, onCall);
  return redis;
};

export type ConnectRedis = {
  /** With the scheme `redis+cluster` or `rediss+cluster` that of one node of a Redis Cluster, which names the others. */
  url: string;
  /** Encrypts, and shows this certificate: each time it connects, the one that is there by then. */
  tls?: Certificates | undefined;
  onError?: (error: Error) => void;
  /** Gets the duration of each command that was answered. */
  onCall?: OnCall;
};

const shown = (tls: Certificates | undefined): Pick<RedisOptions, "tls"> =>
  tls === undefined ? {} : { tls: { secureContext: tls.context } };

const isCluster = (url: string): boolean => /^rediss?\+cluster:/.test(url);

const options = {
  enableOfflineQueue: false, // a command while disconnected fails at once
  commandTimeout: 250,
  connectTimeout: 2_000,
  maxRetriesPerRequest: 0, // what was under way when the link broke fails instead of waiting for the next one
  enableReadyCheck: true,
} as const satisfies RedisOptions;

const pauseMs = (attempt: number): number => Math.min(100 * 2 ** Math.min(attempt - 1, 5), 2_000);

const alone = {
  enableAutoPipelining: true, // commands of one turn of the loop share a write: 7 % of a small request's CPU
  retryStrategy: pauseMs,
  reconnectOnError: (error) => error.message.startsWith("READONLY"), // a replica after a failover
} as const satisfies RedisOptions;

/** Its nodes have the credentials and the encryption of the address. A command finds a slot that moved by one redirection. */
const openCluster = (url: string, tls: Certificates | undefined): Cluster => {
  const { protocol, username, password } = new URL(url);
  const node = url.replace("+cluster:", ":");
  return new Cluster([node], {
    enableOfflineQueue: false,
    enableAutoPipelining: true,
    clusterRetryStrategy: pauseMs,
    maxRedirections: 2,
    retryDelayOnFailover: 50,
    retryDelayOnClusterDown: 50,
    slotsRefreshTimeout: 2_000,
    redisOptions: {
      ...options,
      ...(username !== "" && { username: decodeURIComponent(username) }),
      ...(password !== "" && { password: decodeURIComponent(password) }),
      ...(protocol.startsWith("rediss") && { tls: {} }),
      ...shown(tls),
    },
  });
};

const timeCommands = (redis: Pick<Redis, "sendCommand">, onCall: OnCall): void => {
  const send = redis.sendCommand.bind(redis);
  const time = async (answer: Promise<unknown>): Promise<void> => {
    const beganMs = performance.now();
    await answer;
    onCall((performance.now() - beganMs) / 1_000);
  };
  redis.sendCommand = (command, ...more) => {
    time(command.promise).catch(() => undefined); // who sent it hears of the failure
    return send(command, ...more); // a cluster says the node of a command that is sent again
  };
};
