import type { Happening } from "./triggers.ts";

const tickMs = 1_000;
const longestSeconds = 3_600; // as triggers have it
const sessionMs = 30 * 60_000;

/** Says what happens on a page: that a session began, which page came up, and for how long it is seen. */
export const watchPage = (appId: string, happen: (happening: Happening) => void) => {
  let seconds = 0;
  const tick = (): void => {
    if (document.hidden || seconds >= longestSeconds) return;
    seconds += 1;
    happen({ kind: "time", seconds });
  };
  const seen = (): void => {
    if (isNewSession(appId)) happen({ kind: "session" });
  };
  const page = (name: string): void => {
    seconds = 0;
    happen({ kind: "page", name });
  };
  const timer = setInterval(tick, tickMs);
  document.addEventListener("visibilitychange", seen);
  seen();
  page(location.pathname);
  return {
    page,
    stop: (): void => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", seen);
    },
  };
};

/** A session begins when no page was seen, or left, for half an hour. */
const isNewSession = (appId: string): boolean => {
  const key = `herald-seen-${appId}`;
  const nowMs = Date.now();
  try {
    const lastMs = Number(localStorage.getItem(key) ?? 0);
    localStorage.setItem(key, `${nowMs}`);
    return nowMs - lastMs > sessionMs;
  } catch {
    return true; // a browser that keeps nothing: each page is one
  }
};
