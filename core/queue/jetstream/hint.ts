import type { Msg } from "@nats-io/nats-core";
import { repeatedHeader } from "./publish.ts";

/** A message that JetStream delivered, and the five things that can be answered to it. */
export type Hint = {
  subject: string;
  /** Position in the stream. */
  sequence: number;
  /** 1 for the first delivery. */
  attempt: number;
  /** Size of the body. */
  bytes: number;
  traceparent: string | null;
  /** Whether its publisher said that its content may have come before. */
  mayBeRepeated: boolean;
  /** The body. @throws SyntaxError */
  json: () => unknown;
  ack: () => void;
  /** Delivered again after `delayMs`; without it at once, to whoever asks. */
  nak: (delayMs?: number) => void;
  /** Never delivered again. */
  term: (reason: string) => void;
  /** Keeps it from being delivered again while it is worked on. */
  working: () => void;
};

/** Reads a delivered message; null when it is none. Source: nats-architecture-and-design ADR-15, "Acknowledging messages". */
export const hintOf = (message: Msg): Hint | null => {
  const tokens = message.reply?.split(".") ?? [];
  if (tokens[0] !== "$JS" || tokens[1] !== "ACK" || tokens.length < 9) return null;
  const [delivered, sequence] = tokens.slice(tokens.length >= 11 ? 6 : 4); // newer servers name domain and account first
  return {
    subject: message.subject,
    sequence: Number(sequence),
    attempt: Number(delivered),
    bytes: message.data.length,
    traceparent: message.headers?.get("traceparent") || null,
    mayBeRepeated: message.headers?.has(repeatedHeader) ?? false,
    json: () => message.json(),
    ack: () => void message.respond("+ACK"),
    nak: (delayMs) =>
      void message.respond(delayMs ? `-NAK ${JSON.stringify({ delay: Math.round(delayMs) * 1e6 })}` : "-NAK"),
    term: (reason) => void message.respond(`+TERM ${reason}`),
    working: () => void message.respond("+WPI"),
  };
};
