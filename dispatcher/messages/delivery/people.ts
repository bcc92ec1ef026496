import type { Reached } from "#core/storage/messages/audience.ts";
import type { ReadPeople } from "../../templates/open.ts";
import type { DeliverDeps } from "./deliver-deps.ts";

/** Reads the users of recipients when the first asks for them, once for all who ask. */
export const peopleOf = (
  { people }: Pick<DeliverDeps["recipients"], "people">,
  recipients: readonly Reached[],
): ReadPeople => {
  let read: ReturnType<ReadPeople> | undefined;
  return () => {
    read ??= people([...new Set(recipients.map(({ user_id: userId }) => userId))]);
    return read;
  };
};
