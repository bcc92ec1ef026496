/** One thing that a simulator was sent. `key` names what must arrive at most once (apns-id, message and token, …). */
export type Received = {
  address: string;
  key: string;
  /** Whether the answer was "accepted"; the answer itself may still have been lost on its way. */
  accepted: boolean;
  /** What was answered, e.g. `200` or `410 Unregistered`. */
  answer: string;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: string;
};

/** `seq` grows by one with each entry since the start, so that a reader can page with `since`. */
export type ReceivedEntry = Received & { seq: number; at: string };

export type ReceivedCounts = {
  received: number;
  accepted: number;
  answers: Record<string, number>;
  /** Distinct addresses and keys that were accepted, and the keys that were accepted more than once. */
  addresses: number;
  keys: number;
  repeated_keys: number;
};

export type ReceivedLog = ReturnType<typeof receivedLog>;

/** Remembers counts of everything by address and by key, and the last entries in full; bounded in both. */
export const receivedLog = ({ keepLast = 1000, maxKeys = 1_000_000 } = {}) => {
  const newest: (ReceivedEntry | undefined)[] = [];
  const answers = new Map<string, number>();
  const byAddress = new Map<string, number>();
  const byKey = new Map<string, number>();
  let seq = 0;
  let accepted = 0;
  const countAccepted = ({ address, key }: Received): void => {
    accepted++;
    if (byAddress.size < maxKeys || byAddress.has(address)) increment(byAddress, address);
    if (byKey.size < maxKeys || byKey.has(key)) increment(byKey, key);
  };
  return {
    add: (received: Received): void => {
      seq++;
      increment(answers, received.answer);
      if (received.accepted) countAccepted(received);
      newest[seq % keepLast] = { ...received, seq, at: new Date().toISOString() };
    },
    /** Entries after `since`, oldest first; older ones than the last `keepLast` are gone. */
    page: ({ since = 0, limit = keepLast } = {}): ReceivedEntry[] =>
      newest
        .filter((entry): entry is ReceivedEntry => entry !== undefined && entry.seq > since)
        .sort((a, b) => a.seq - b.seq)
        .slice(0, limit),
    counts: (): ReceivedCounts => ({
      received: [...answers.values()].reduce((sum, n) => sum + n, 0),
      accepted,
      answers: Object.fromEntries(answers),
      addresses: byAddress.size,
      keys: byKey.size,
      repeated_keys: [...byKey.values()].filter((n) => n > 1).length,
    }),
    /** How often each address or key was accepted. */
    tally: (by: "address" | "key"): ReadonlyMap<string, number> => (by === "address" ? byAddress : byKey),
    clear: (): void => {
      newest.length = 0;
      for (const counters of [answers, byAddress, byKey]) counters.clear();
      accepted = 0;
    },
  };
};

const increment = (counters: Map<string, number>, name: string): void => {
  counters.set(name, (counters.get(name) ?? 0) + 1);
};
