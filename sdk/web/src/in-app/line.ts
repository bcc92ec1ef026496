import type { Sending } from "../outbox.ts";
import type { InAppKepts } from "./kept.ts";
import { type InAppMessage, isCurrent } from "./messages.ts";
import { type Happening, isTriggered } from "./triggers.ts";

/** A message that is to be shown now. Whoever shows it says what the person does; the next one waits until it is closed. */
export type Showing = {
  message: InAppMessage;
  /** They clicked a button, which closes it. */
  clicked: (buttonId: string) => Promise<void>;
  /** They closed it. */
  dismissed: () => Promise<void>;
};

export type Show = (showing: Showing) => void;

type Deps = { kept: InAppKepts; show: Show; keep: (one: Sending) => Promise<boolean> };

/** Shows messages one after the other: those that are due, the highest priority first. */
export const showingLine = ({ kept, show, keep }: Deps) => {
  const due = new Set<string>();
  let messages: readonly InAppMessage[] = [];
  let isBusy = false;
  let isStopped = false;

  const report = ({ id, variant_id }: InAppMessage, item: object): Promise<boolean> =>
    keep({ path: `in-app-messages/${id}/events`, list: null, item: { id: crypto.randomUUID(), variant_id, ...item } });

  const next = async (): Promise<void> => {
    if (isBusy) return;
    isBusy = true;
    const taken = await takeFirst().catch(() => null); // a browser that keeps nothing shows nothing
    isBusy = taken !== null;
    if (taken === null) return;
    await report(taken.message, { type: "impression", first: taken.isFirst });
    const over = async (what: Over, item: object): Promise<void> => {
      const isFirst = await kept.note(taken.message.id, what);
      await report(taken.message, { ...item, first: isFirst });
      isBusy = false;
      void next();
    };
    show(showingOf(taken.message, over));
  };

  const takeFirst = async (): Promise<{ message: InAppMessage; isFirst: boolean } | null> => {
    for (const message of messages) {
      if (isStopped || !due.delete(message.id) || !isCurrent(message, Date.now())) continue;
      const taken = await kept.take(message);
      if (taken !== null) return { message, ...taken };
    }
    return null;
  };

  return {
    happen: (happening: Happening): void => {
      for (const { id, triggers } of messages) if (triggers.some((one) => isTriggered(one, happening))) due.add(id);
      if (due.size > 0) void next();
    },

    /** Those without triggers are due as soon as they are there. */
    refresh: async (): Promise<void> => {
      const known = new Set(messages.map(({ id }) => id));
      messages = await kept.refresh();
      for (const { id, triggers } of messages) if (triggers.length === 0 && !known.has(id)) due.add(id);
      if (due.size > 0) void next();
    },

    stop: (): void => void (isStopped = true),
  };
};

type Over = "isClicked" | "isDismissed";

/** What happens first closes it. */
const showingOf = (message: InAppMessage, over: (what: Over, item: object) => Promise<void>): Showing => {
  let isOver = false;
  const once = async (what: Over, item: object): Promise<void> => {
    if (isOver) return;
    isOver = true;
    await over(what, item);
  };
  return {
    message,
    clicked: (buttonId) => once("isClicked", { type: "clicked", click_id: buttonId }),
    dismissed: () => once("isDismissed", { type: "dismissed" }),
  };
};
