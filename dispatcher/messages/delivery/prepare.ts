import type { Outcome } from "#core/domain/messages/outcome.ts";
import type { Content } from "#core/schema/messages/notification.ts";
import type { Reached } from "#core/storage/messages/audience.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import type { Send } from "../../channels/kit/provider.ts";
import type { Sender } from "../../channels/registry.ts";
import type { OpenMessage, OwnContent, ReadPeople } from "../../templates/open.ts";

/** The template says that a recipient gets nothing, and why. */
export type Aborted = { aborted: string };

/** What sends a message to a recipient, and what it says to them. */
export type Ready = { send: Send; said: Content };

/** What is ready to be sent to a recipient, or what became of it because there is nothing to send. */
export type Prepare = (to: Reached, now: Date) => Ready | Promise<Ready | Outcome | Aborted>;

type Prepared = { message: MessageRow; ttlSeconds: number; opened: OpenMessage | null };

/** Renders once for each language that occurs, or for each recipient where a template says something else to each. */
export const prepared = async (
  sender: Pick<Sender, "prepare">,
  { message, ttlSeconds, opened }: Prepared,
  people: ReadPeople,
): Promise<Prepare> => {
  const personal = await opened?.personal?.(people);
  if (personal === undefined) {
    const ofLanguage = perLanguage((language) => sender.prepare(message, language, ttlSeconds));
    return ({ language }) => ({ send: ofLanguage(language), said: message.content });
  }
  return async (to, now) => {
    const said = await personal(to);
    if (said === "unavailable" || "fault" in said) return failureOf(said, now);
    if ("aborted" in said) return said;
    const { content } = said;
    return { send: sender.prepare({ ...message, content }, to.language, ttlSeconds), said: content };
  };
};

const soonMs = 5_000;

/** It costs this recipient alone. */
const failureOf = (said: Exclude<OwnContent, { content: unknown } | Aborted>, now: Date): Outcome => {
  const refusal = { code: "TEMPLATE_RENDER_FAILED", providerCode: null } as const;
  if (said === "unavailable")
    return { kind: "retry_at", at: new Date(now.getTime() + soonMs), ...refusal, reason: "cannot be rendered now" };
  const { member, line, column, message } = said.fault;
  return { kind: "payload_error", ...refusal, reason: `${member}, line ${line}, column ${column}: ${message}` };
};

const perLanguage = (prepare: (language: string | null) => Send) => {
  const known = new Map<string | null, Send>();
  return (language: string | null): Send => {
    const send = known.get(language) ?? prepare(language);
    known.set(language, send);
    return send;
  };
};
