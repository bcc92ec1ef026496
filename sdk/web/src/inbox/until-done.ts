const againMs = 30_000;

/** An error of the client; it may be a class of another file than this one's, so it is told by its members. */
type Refused = { retryAfterMs?: number | null };

/**
 * Does work when it is called, and by itself again after it failed: when the service says, or half a minute later. A signal ends
 * that.
 */
export const untilDone = (
  work: () => Promise<void>,
  { failed, signal }: { failed: () => void; signal: AbortSignal },
): (() => void) => {
  let later: ReturnType<typeof setTimeout> | undefined;
  const now = (): void => {
    clearTimeout(later);
    work().catch(({ retryAfterMs }: Refused) => {
      failed();
      if (!signal.aborted) later = setTimeout(now, retryAfterMs ?? againMs);
    });
  };
  signal.addEventListener("abort", () => clearTimeout(later));
  return now;
};
