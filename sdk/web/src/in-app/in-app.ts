import type { Installs } from "../install.ts";
import type { Sending } from "../outbox.ts";
import { inAppKept } from "./kept.ts";
import { type Show, showingLine } from "./line.ts";
import { watchPage } from "./page.ts";

/** What in-app messages need of `herald`. */
export type WithParts = {
  parts: {
    appId: string;
    install: Pick<Installs, "call" | "registered">;
    keep: (one: Sending) => Promise<boolean>;
    onTracked: (listener: (name: string, properties: Readonly<Record<string, unknown>>) => void) => () => void;
  };
};

/** Messages that are shown as a person uses the page. */
export type InApp = {
  /** Another page or screen came up without being loaded. Those that are loaded are named by their paths. */
  page: (name: string) => void;
  stop: () => void;
};

/**
 * Calls `show` for one message at a time. Which are this person's says the service; when one is shown follows from what happens in the page.
 * @throws HeraldError, TypeError when the service cannot be reached and there is nothing from before
 */
export const inApp = async ({ parts }: WithParts, show: Show): Promise<InApp> => {
  const { appId, install, keep, onTracked } = parts;
  const line = showingLine({ kept: inAppKept(appId, install), show, keep });
  await line.refresh();
  const { page, stop } = watchPage(appId, line.happen);
  const forget = onTracked((name, properties) => line.happen({ kind: "event", name, properties }));
  const seen = (): void => void (document.hidden || line.refresh().catch(() => undefined)); // what was there stays
  document.addEventListener("visibilitychange", seen);
  return {
    page,
    stop: () => {
      document.removeEventListener("visibilitychange", seen);
      forget();
      stop();
      line.stop();
    },
  };
};
