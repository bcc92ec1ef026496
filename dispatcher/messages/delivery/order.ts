import type { Reached } from "#core/storage/messages/audience.ts";
import type { Sender } from "../../channels/registry.ts";
import type { DeliverDeps } from "./deliver-deps.ts";

/** Begins with recipients whose origin is known to answer: one that is not may keep its place until the deadline. */
export const reachedFirst = (recipients: readonly Reached[], { hasReached }: Sender): Reached[] => {
  const [known, others]: [Reached[], Reached[]] = [[], []];
  for (const one of recipients) (hasReached(one.token) ? known : others).push(one);
  return [...known, ...others];
};

/** Gives recipients without a language that of their user. Source: docs/reference/messages.md#languages. */
export const inLanguages = async (
  { recipients: { languages } }: Pick<DeliverDeps, "recipients">,
  recipients: readonly Reached[],
): Promise<readonly Reached[]> => {
  const silent = recipients.filter(({ language }) => language === null);
  if (silent.length === 0) return recipients;
  const ofUsers = await languages([...new Set(silent.map(({ user_id: userId }) => userId))]);
  return recipients.map((one) => ({ ...one, language: one.language ?? ofUsers.get(one.user_id) ?? null }));
};
