import type { Installs } from "./install.ts";

/** Of all tabs: when it began, when a page was seen last, what the service was told of it, and when; in ms. */
type Session = { began: number; seen: number; told: number; toldAt: number };

const awayMs = 30_000; // after which another session begins, as the service says of apps
const beatMs = 10_000;
const tellMs = 60_000; // the service takes one a minute

/**
 * Tells the service how long the site is used, when it is left. What is not told of a registered browser is told nobody: a visit alone
 * registers none. In a browser that keeps nothing no session is counted.
 */
export const sessions = (appId: string, { current, call }: Pick<Installs, "current" | "call">): void => {
  const key = `herald-session-${appId}`;
  const read = (): Session | null => JSON.parse(localStorage.getItem(key) ?? "null") as Session | null; // sound: written below
  const keep = (session: Session): void => localStorage.setItem(key, JSON.stringify(session));

  const tell = async (session: Session): Promise<void> => {
    if (session.seen - session.told < 1_000 || (await current())?.secret == null) return;
    const body = {
      started_at: new Date(session.began).toISOString(),
      duration_s: Math.floor((session.seen - session.began) / 1_000),
    };
    await call("sessions", { method: "POST", body, keepalive: true });
  };

  const beat = (): void => {
    const now = Date.now();
    const known = read();
    const isOn = known !== null && now - known.seen <= awayMs;
    const session = isOn ? { ...known, seen: now } : { began: now, seen: now, told: now, toldAt: 0 };
    if (known !== null && !isOn) tell(known).catch(nothing);
    if (document.hidden && now - session.toldAt >= tellMs && session.seen > session.told) {
      tell(session).catch(nothing);
      Object.assign(session, { told: now, toldAt: now });
    }
    keep(session);
  };
  const seen = (): void => {
    try {
      beat();
    } catch {
      // without localStorage
    }
  };

  document.addEventListener("visibilitychange", seen);
  setInterval(() => document.hidden || seen(), beatMs);
  if (!document.hidden) seen();
};

const nothing = (): void => undefined; // it is told with the next session, or never
