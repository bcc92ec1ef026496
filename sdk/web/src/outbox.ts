import { HeraldError } from "./http.ts";
import type { Installs } from "./install.ts";
import { run, type Waiting } from "./store.ts";

/** What is to be sent: to which path, and in which list of a body; null where the item is the body. */
export type Sending = Omit<Waiting, "key" | "appId">;

const mostWaiting = 1_000;
const mostInOne = 100; // as the service takes them
const mostBytes = 60_000; // browsers send at most 64 KiB after a page is gone
const mostItemBytes = 32_768; // as the service takes an event
const gatherMs = 1_000;
const firstWaitMs = 5_000;
const longestWaitMs = 300_000;

/**
 * Keeps events and receipts until the service has them, in IndexedDB, so that they outlive the page and being offline. All tabs share
 * it, and one sends at a time. What the service refuses is given up with a warning in the console.
 */
export const outbox = (appId: string, install: Pick<Installs, "registered" | "call">) => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let failures = 0;

  /** Sends all that waits. @throws HeraldError, TypeError what is left waits for the next time */
  const flush = (): Promise<void> =>
    navigator.locks.request(`herald-outbox-${appId}`, async () => {
      const batches = batchesOf(await waitingOf(appId));
      if (batches.length > 0) await install.registered(); // a refusal of that is none of what waits
      for (const rows of batches) await deliver(install, rows);
    });

  const send = (): void => {
    clearTimeout(timer);
    timer = undefined;
    flush().then(
      () => void (failures = 0),
      (error: unknown) => later(waitMs(error, failures++)),
    );
  };
  const later = (ms: number): void => void (timer ??= setTimeout(send, ms));
  const sendIfAny = (): void => void waitingOf(appId).then(({ length }) => length > 0 && send(), nothing);

  globalThis.addEventListener("online", sendIfAny);
  document.addEventListener("visibilitychange", sendIfAny);
  sendIfAny();

  return {
    flush,

    /** `false`: as many as may wait do so. @throws RangeError for a large one, TypeError for what is no JSON */
    keep: async (one: Sending): Promise<boolean> => {
      const isKept = await add(appId, one);
      if (isKept) later(gatherMs);
      return isKept;
    },

    /** Gives up all that waits. */
    clear: async (): Promise<void> => remove(await waitingOf(appId)),
  };
};

const waitingOf = async (appId: string): Promise<Waiting[]> =>
  (await run<Waiting[]>("outbox", "readonly", (store) => store.getAll(null, mostWaiting))).filter(
    (one) => one.appId === appId,
  );

const add = async (appId: string, { item, ...to }: Sending): Promise<boolean> => {
  const text = JSON.stringify(item);
  if (sizeOf(text) > mostItemBytes) throw new RangeError(`herald: more than ${mostItemBytes} bytes`);
  if ((await run("outbox", "readonly", (store) => store.count())) >= mostWaiting) return false;
  await run("outbox", "readwrite", (store) => store.add({ ...to, appId, item: JSON.parse(text) as object }));
  return true;
};

/** One request; of what is refused together each half is sent on its own. */
const deliver = async ({ call }: Pick<Installs, "call">, rows: readonly Waiting[]): Promise<void> => {
  const [first] = rows;
  if (first === undefined) return;
  const { path, list } = first;
  const body = list === null ? first.item : { [list]: rows.map(({ item }) => item) };
  try {
    const { errors = [] } = await call<{ errors?: object[] }>(path, {
      method: "POST",
      body,
      keepalive: document.hidden,
    });
    for (const error of errors) console.warn("herald:", error);
  } catch (error) {
    if (!isRefused(error)) throw error;
    const middle = rows.length >> 1;
    if (middle > 0) {
      await deliver({ call }, rows.slice(0, middle));
      return deliver({ call }, rows.slice(middle));
    }
    console.warn("herald: refused", path, error.message, error.details);
  }
  await remove(rows);
};

const nothing = (): void => undefined;

const sizeOf = (text: string): number => new TextEncoder().encode(text).length;

const remove = async (rows: readonly Waiting[]): Promise<void> => {
  if (rows.length > 0)
    await run("outbox", "readwrite", (store) => {
      for (const { key } of rows) store.delete(key);
      return store.count();
    });
};

/** Those for the same path go together, in their order. */
const batchesOf = (rows: readonly Waiting[]): Waiting[][] => {
  const batches: Waiting[][] = [];
  let bytes = 0;
  for (const row of rows) {
    const size = sizeOf(JSON.stringify(row.item));
    const last = batches.at(-1);
    const isNext = last !== undefined && row.list !== null && last[0]?.path === row.path;
    if (isNext && last.length < mostInOne && bytes + size < mostBytes) {
      last.push(row);
      bytes += size;
    } else {
      batches.push([row]);
      bytes = size;
    }
  }
  return batches;
};

/** Whether it is the content that was not taken, so that another time would not help. */
const isRefused = (error: unknown): error is HeraldError =>
  error instanceof HeraldError && [400, 404, 409, 413, 422].includes(error.status);

const waitMs = (error: unknown, failures: number): number => {
  const toldMs = error instanceof HeraldError ? error.retryAfterMs : null;
  return toldMs ?? Math.min(longestWaitMs, firstWaitMs * 2 ** failures) * (0.5 + Math.random() / 2);
};
