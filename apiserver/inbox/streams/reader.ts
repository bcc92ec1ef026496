import type { EventStream } from "../../http/protocol/event-stream.ts";

/** One reader of an inbox: it takes one text at a time, and what changes meanwhile is read when it can take the next. */
export type Reader = EventStream & {
  /** Whether it waits for a text. */
  isReady: () => boolean;
  /** Gives it a text; only while it is ready. */
  put: (text: string) => void;
  /** Has it end behind a last text, as soon as it takes that. */
  end: (text: string) => void;
};

export type ReaderDeps = {
  /** It has become ready. */
  onReady: () => void;
  /** Once, when nothing more is taken from it. */
  onClosed: () => void;
};

type Taken = IteratorResult<string, undefined>;

/** Keeps at most one text, the last. */
export const reader = ({ onReady, onClosed }: ReaderDeps): Reader => {
  let state: "open" | "ending" | "closed" = "open";
  let last = "";
  let take: ((taken: Taken) => void) | null = null;

  const give = (taken: Taken): void => {
    take?.(taken);
    take = null;
  };
  const close = (): void => {
    if (state === "closed") return;
    state = "closed";
    give(over);
    onClosed();
  };
  const next = async (): Promise<Taken> => {
    if (state === "ending" && last !== "") {
      const value = last;
      last = "";
      return { done: false, value };
    }
    if (state !== "open") {
      close();
      return over;
    }
    const { promise, resolve } = Promise.withResolvers<Taken>();
    take = resolve;
    onReady();
    return promise;
  };
  const iterator = { next, return: async () => (close(), over) };
  return {
    texts: { [Symbol.asyncIterator]: () => iterator },
    close,
    isReady: () => take !== null,
    put: (value) => give({ done: false, value }),
    end: (text) => {
      if (state !== "open") return;
      state = "ending";
      if (take === null) last = text;
      else give({ done: false, value: text });
    },
  };
};

const over: Taken = { done: true, value: undefined };
