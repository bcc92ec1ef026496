import {
  MongoBulkWriteError,
  MongoClient,
  MongoNetworkError,
  MongoNotConnectedError,
  MongoServerError,
  MongoServerSelectionError,
  MongoTopologyClosedError,
} from "mongodb";
import { Unavailable } from "../../errors.ts";
import type { OnCall } from "../../runtime/metrics/stores.ts";
import type { Certificates } from "../../runtime/tls/certificates.ts";
import { endWaitsForDrain } from "./driver-drain.ts";
import { isWriteConflict } from "./duplicate.ts";
import { replaceConnections } from "./replace-connections.ts";
import { timeCommands } from "./timed.ts";

export type Mongo = ReturnType<typeof connectMongo>;

/**
 * Opens MongoDB (or what speaks its protocol). Once connected it connects again whenever it was away; a call made
 * meanwhile fails within about 3 s with an error that {@link unavailable} recognises.
 */
export const connectMongo = ({ url, database, appName, maxPoolSize, tls, onCall }: MongoOptions) => {
  endWaitsForDrain();
  const client = new MongoClient(url, {
    appName,
    maxPoolSize,
    serverSelectionTimeoutMS: 3_000,
    connectTimeoutMS: 3_000,
    socketTimeoutMS: 30_000, // a server that went deaf; no query of ours runs so long
    waitQueueTimeoutMS: 10_000,
    maxIdleTimeMS: 300_000,
    heartbeatFrequencyMS: 5_000,
    ignoreUndefined: true,
    fieldsAsRaw: noFields,
    ...(tls !== undefined && { tls: true, secureContext: tls.context }),
  });
  const unfollow = tls?.follow(() => replaceConnections(client)); // nothing is there yet the first time
  if (onCall !== undefined) timeCommands(client, onCall);
  const db = client.db(database);
  return {
    db,
    /** To be called until it resolves: the driver makes the first connection once, and does not try again by itself. */
    connect: async (): Promise<void> => void (await client.connect()),
    /** Resolves when the server answers. */
    ping: async (signal: AbortSignal): Promise<void> => {
      await db.command({ ping: 1 }, { signal });
    },
    close: (): Promise<void> => {
      unfollow?.();
      return client.close();
    },
  };
};

/** The driver's own `{}` has members: a list that somebody named "constructor" or "toString" would be read as bytes. */
const noFields = Object.create(null) as Record<string, never>;

export type MongoOptions = {
  url: string;
  database: string;
  appName: string;
  maxPoolSize: number;
  /** Encrypts, and shows this certificate. Each time that it is replaced, so are all connections, and no command fails for it. */
  tls?: Certificates | undefined;
  /** Gets the duration of each command. */
  onCall?: OnCall;
};

/**
 * What to throw for a driver's error: {@link Unavailable} when the server could not be reached, or gave a write up again
 * and again; else the error itself.
 */
export const unavailable = (error: unknown): unknown =>
  isUnreachable(error) || isWriteConflict(error) ? new Unavailable("the database", { cause: error }) : error;

/** Whether an error means that the server was away, so that the same call may work later. */
export const isUnreachable = (error: unknown): boolean =>
  error instanceof MongoNetworkError ||
  error instanceof MongoServerSelectionError ||
  error instanceof MongoNotConnectedError ||
  error instanceof MongoTopologyClosedError ||
  (error instanceof Error && (error.name === "MongoWaitQueueTimeoutError" || isUnresolved(error))) ||
  (error instanceof MongoBulkWriteError && isUnreachable(error.errorResponse)) || // wraps what stopped it
  (error instanceof MongoServerError && (isServerLeaving(error) || hasNoRoom(error)));

/** A look-up of mongodb+srv's records failed: DNS's own error comes as it is. */
const isUnresolved = (error: Error): boolean =>
  "syscall" in error && (error.syscall === "querySrv" || error.syscall === "queryTxt");

/** Codes of a server that steps down or shuts down. Source: MongoDB server discovery and monitoring, "not writable primary" and "node is recovering". */
const leavingCodes = new Set([91, 189, 10_107, 11_600, 11_602, 13_435, 13_436]);

const isServerLeaving = ({ code, message }: MongoServerError): boolean =>
  leavingCodes.has(Number(code)) ||
  /failed to connect to|conn closed|the database system is (starting|shutting|in recovery|not yet)/.test(message);

/** Its disk is full: it answers what is read, and takes what is written once it has room. 14031: MongoDB's OutOfDiskSpace. */
const hasNoRoom = ({ code, message }: MongoServerError): boolean =>
  code === 14_031 || message.includes("No space left on device");
