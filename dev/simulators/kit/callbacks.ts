/** A callback to be made: where, and with what. */
export type CallbackToMake = { url: string; headers: Record<string, string>; body: string };

/** Makes callbacks one after the other, as a provider does that waits for each answer; what fails is not made again. */
export const callbackCaller = () => {
  let last: Promise<void> = Promise.resolve();
  let made = 0;
  const call = async ({ url, headers, body }: CallbackToMake): Promise<void> => {
    const signal = AbortSignal.timeout(5_000);
    const reply = await fetch(url, { method: "POST", headers, body, signal }).catch(() => null); // nobody may listen
    await reply?.arrayBuffer();
    made++;
  };
  return {
    make: (callbacks: readonly CallbackToMake[]): Promise<void> => {
      for (const one of callbacks) last = last.then(() => call(one));
      return last;
    },
    /** Callbacks that were made so far. */
    made: (): number => made,
  };
};

export type CallbackCaller = ReturnType<typeof callbackCaller>;
