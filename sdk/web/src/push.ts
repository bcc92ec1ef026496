import { type Push, pushOf } from "./push-of.ts";

export type WorkerPlace = { url: string; scope: string };

/** Registers the worker under a scope of its own, so that it never takes the place of the site's. */
export const registerWorker = ({ url, scope }: WorkerPlace): Promise<ServiceWorkerRegistration> =>
  navigator.serviceWorker.register(url, { scope, updateViaCache: "none" });

/**
 * Subscribes to pushes that are signed by the app's key; a subscription to another key is given up first. The worker has to be active.
 * @throws DOMException without the person's consent, or without a push service
 */
export const subscribe = async (registration: ServiceWorkerRegistration, key: string): Promise<Push> => {
  await activated(registration);
  const known = await registration.pushManager.getSubscription();
  const isOurs = known !== null && textOf(known.options.applicationServerKey) === key;
  if (known !== null && !isOurs) await known.unsubscribe();
  const options = { userVisibleOnly: true, applicationServerKey: key };
  const subscription = known !== null && isOurs ? known : await registration.pushManager.subscribe(options);
  return pushOf(subscription);
};

const activated = ({ active, waiting, installing }: ServiceWorkerRegistration): Promise<void> => {
  const worker = active ?? waiting ?? installing;
  if (worker === null || worker.state === "activated") return Promise.resolve();
  return new Promise((resolve) => {
    worker.addEventListener("statechange", () => {
      if (worker.state === "activated") resolve();
    });
  });
};

/** Base64url, as the service writes keys. */
const textOf = (bytes: ArrayBuffer | null): string =>
  btoa(String.fromCharCode(...new Uint8Array(bytes ?? new ArrayBuffer(0))))
    .replace(/\+/g, "-")
    .replace(/\//g, "_")
    .replace(/=+$/, "");
