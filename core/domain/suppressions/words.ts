/** What a person asks for by a message of one word. */
export type InboundWord = "stop" | "start" | "help";

/** Source: docs/reference/suppressions.md#words. */
const meanings: Readonly<Record<string, InboundWord>> = {
  STOP: "stop",
  STOPALL: "stop",
  "STOP ALL": "stop",
  UNSUBSCRIBE: "stop",
  CANCEL: "stop",
  END: "stop",
  QUIT: "stop",
  "OPT-OUT": "stop",
  OPTOUT: "stop",
  REMOVE: "stop",
  ARRET: "stop",
  TD: "stop",
  START: "start",
  UNSTOP: "start",
  YES: "start",
  HELP: "help",
  INFO: "help",
};

/** What a message asks for: its whole text has to be such a word, in any case. Null for any other text. */
export const wordOf = (text: string): InboundWord | null => {
  const said = text.trim().toUpperCase();
  return Object.hasOwn(meanings, said) ? (meanings[said] ?? null) : null;
};
