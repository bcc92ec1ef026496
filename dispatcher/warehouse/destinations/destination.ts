import type { RunErrorCode } from "#core/schema/warehouse/export.ts";

/** A store of an app's owner, as runs and tests of warehouse exports use it. Each call is bounded by itself and `signal`. */
export type Destination = {
  /** Looks up the store's address, and judges it. @throws DestinationError */
  resolve: (signal: AbortSignal) => Promise<void>;
  /** Asks whether the bucket is there for these credentials. @throws DestinationError */
  authenticate: (signal: AbortSignal) => Promise<void>;
  /**
   * Writes a file whole, and sees that it is there whole. `new` writes it only where the key is free (where the store can
   * tell), and gives false otherwise. @throws DestinationError
   */
  write: (file: DestinationFile, mode: "new" | "over", signal: AbortSignal) => Promise<boolean>;
  /** A file's bytes; null when there is none, or one of more than `mostBytes`. @throws DestinationError */
  read: (key: string, mostBytes: number, signal: AbortSignal) => Promise<Buffer | null>;
  /** Removes a file, if there is one. @throws DestinationError */
  remove: (key: string, signal: AbortSignal) => Promise<void>;
  /** Asks for the names below a prefix. @throws DestinationError */
  list: (prefix: string, signal: AbortSignal) => Promise<string[]>;
  close: () => void;
};

export type DestinationFile = { key: string; body: Buffer; contentType: string };

/** What a store did not do, as owners are told it: words of ours, and the name that the store gave it. */
export class DestinationError extends Error {
  readonly code: RunErrorCode;
  constructor(code: RunErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "DestinationError";
    this.code = code;
  }
}
