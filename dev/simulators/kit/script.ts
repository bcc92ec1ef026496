/** An answer to give instead of "accepted", to addresses that begin with `address_prefix` (all when left out). */
export type ScriptedAnswer = {
  address_prefix?: string;
  status: number;
  reason: string;
  /** How often it is given; for ever when left out. */
  times?: number;
  retry_after_seconds?: number;
};

/** How a simulator misbehaves. Counts of streams are per connection; 0 is "never". */
export type Script = {
  answers: ScriptedAnswer[];
  /** Waits this long before each answer. */
  delay_ms: number;
  /** Connections are cut as soon as they are made. */
  refuse_connections: boolean;
  /** HTTP/2: SETTINGS_MAX_CONCURRENT_STREAMS, also announced to connections that stand. */
  max_streams: number;
  /** HTTP/2: GOAWAY after so many streams; those above its last stream id are not processed. */
  goaway_every: number;
  /** The connection is reset (TCP RST) after so many requests, whose answers may be lost. */
  reset_every: number;
  /** The connection stops to read and to answer after so many requests, without being closed. */
  deaf_after: number;
  /** What callbacks tell of each message that is accepted, in this order; null: what the provider tells mostly. */
  statuses: readonly string[] | null;
};

export const calm: Script = {
  answers: [],
  delay_ms: 0,
  refuse_connections: false,
  max_streams: 1000,
  goaway_every: 0,
  reset_every: 0,
  deaf_after: 0,
  statuses: null,
};

export type Scripted = ReturnType<typeof scripted>;

/** Holds the script in force. A new one replaces the old one wholly; what it leaves out is calm. */
export const scripted = (changed: (script: Script) => void = () => {}) => {
  let script = calm;
  return {
    current: (): Script => script,
    replace: (next: Partial<Script>): void => {
      script = { ...calm, ...next, answers: (next.answers ?? []).map((answer) => ({ ...answer })) };
      changed(script);
    },
    /** The scripted answer for this address; uses up one of its `times`. */
    answerFor: (address: string): ScriptedAnswer | null => {
      if (script.answers.length === 0) return null;
      const answer = script.answers.find(
        ({ address_prefix = "", times = 1 }) => times > 0 && address.startsWith(address_prefix),
      );
      if (answer?.times !== undefined) answer.times--;
      return answer ?? null;
    },
  };
};
