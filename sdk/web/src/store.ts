/** What this browser knows of one app: pages and the worker share it. */
export type Install = {
  appId: string;
  /** The service's address, without a slash at its end. */
  url: string;
  installId: string;
  subscriptionId: string | null;
  secret: string | null;
  userId: string | null;
  /** The endpoint that the service was told last. */
  token: string | null;
};

type Stores = { installs: Install };

const keys = { installs: "appId" } as const;

let opened: Promise<IDBDatabase> | undefined;

const open = (): Promise<IDBDatabase> =>
  (opened ??= new Promise((resolve, reject) => {
    const asked = indexedDB.open("herald", 1);
    asked.onupgradeneeded = () => {
      for (const [name, keyPath] of Object.entries(keys)) asked.result.createObjectStore(name, { keyPath });
    };
    asked.onsuccess = () => {
      asked.result.onversionchange = () => asked.result.close();
      resolve(asked.result);
    };
    asked.addEventListener("error", () => reject(asked.error));
  }));

const run = async <T>(
  name: keyof Stores,
  mode: IDBTransactionMode,
  ask: (store: IDBObjectStore) => IDBRequest<T>,
): Promise<T> => {
  const store = (await open()).transaction(name, mode).objectStore(name);
  return new Promise((resolve, reject) => {
    const asked = ask(store);
    asked.onsuccess = () => resolve(asked.result);
    asked.addEventListener("error", () => reject(asked.error));
  });
};

/** Keeps what has to outlive a page, in IndexedDB. */
export const store = {
  install: (appId: string): Promise<Install | undefined> => run("installs", "readonly", (s) => s.get(appId)),
  installs: (): Promise<Install[]> => run("installs", "readonly", (s) => s.getAll()),
  keep: (install: Install) => run("installs", "readwrite", (s) => s.put(install)),
  forget: (appId: string) => run("installs", "readwrite", (s) => s.delete(appId)),
};
