/** What this browser knows of one app: pages and the worker share it. */
export type Install = {
  appId: string;
  /** The service's address, without a slash at its end. */
  url: string;
  installId: string;
  subscriptionId: string | null;
  secret: string | null;
  userId: string | null;
  /** Whom this browser is logged in as. */
  externalId?: string | null;
  /** The endpoint that the service was told last. */
  token: string | null;
};

/** An event or a receipt that the service does not have yet. */
export type Waiting = { key: number; appId: string; path: string; list: string | null; item: object };

/** The names of stores, each of which has one kind of row. */
type Stores = "installs" | "outbox" | "inApp";

const keys: Readonly<Record<Stores, IDBObjectStoreParameters>> = {
  installs: { keyPath: "appId" },
  outbox: { keyPath: "key", autoIncrement: true },
  inApp: { keyPath: "appId" },
};

let opened: Promise<IDBDatabase> | undefined;

const open = (): Promise<IDBDatabase> =>
  (opened ??= new Promise((resolve, reject) => {
    const asked = indexedDB.open("herald", 2);
    asked.onupgradeneeded = () => {
      for (const [name, options] of Object.entries(keys))
        if (!asked.result.objectStoreNames.contains(name)) asked.result.createObjectStore(name, options);
    };
    asked.onsuccess = () => {
      asked.result.onversionchange = () => {
        opened = undefined;
        asked.result.close();
      };
      resolve(asked.result);
    };
    asked.addEventListener("error", () => {
      opened = undefined;
      reject(asked.error);
    });
  }));

/** Asks one store, and gives the answer of the request that `ask` gives once everything is written. */
export const run = async <T>(
  name: Stores,
  mode: IDBTransactionMode,
  ask: (store: IDBObjectStore) => IDBRequest<T>,
): Promise<T> => {
  const transaction = (await open()).transaction(name, mode);
  return new Promise((resolve, reject) => {
    const asked = ask(transaction.objectStore(name));
    transaction.oncomplete = () => resolve(asked.result);
    transaction.addEventListener("abort", () => reject(transaction.error));
  });
};

/** Keeps what has to outlive a page, in IndexedDB. */
export const store = {
  install: (appId: string): Promise<Install | undefined> => run("installs", "readonly", (s) => s.get(appId)),
  installs: (): Promise<Install[]> => run("installs", "readonly", (s) => s.getAll()),
  keep: (install: Install) => run("installs", "readwrite", (s) => s.put(install)),
  forget: (appId: string) => run("installs", "readwrite", (s) => s.delete(appId)),
};
