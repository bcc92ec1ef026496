import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { createSecureContext, type SecureContext } from "node:tls";
import type { Log } from "../process/log.ts";

export type CertificatesDeps = {
  dir: string;
  log: Log;
  /** How often the folder is looked at while somebody follows it; {@link lookMs} when left out. */
  everyMs?: number;
};

/** The certificates of a folder that a setting names, if it does. */
export const certificatesOf = (dir: string | undefined, log: Log): Certificates | undefined =>
  dir === undefined ? undefined : certificatesIn({ dir, log });

/** What a folder holds: a certificate with its chain, its key, and whom to trust, each as PEM. */
export type Material = { cert: string; key: string; ca?: string };

export type Certificates = {
  /**
   * For `tls.connect` of a client that keeps its options for its whole life: each connection is made with what is in the
   * folder by then.
   */
  context: SecureContext;
  /** Gives what is there now, and what takes its place within {@link lookMs}, until the result is called. */
  follow: (listener: (material: Material) => void) => () => void;
};

/** How often a folder is looked at, ms. */
export const lookMs = 5_000;

/**
 * The certificate of a folder as cert-manager's Secrets are mounted: `tls.crt`, `tls.key` and, unless an authority keeps
 * itself to itself, `ca.crt`. They are replaced before they expire. What cannot be used is logged, and what was there before
 * stays in use; the first has to be good.
 * @throws Error when the first cannot be used
 */
export const certificatesIn = ({ dir, log, everyMs = lookMs }: CertificatesDeps): Certificates => {
  let current = read(dir);
  let refused = "";
  const listeners = new Set<(material: Material) => void>();
  const look = (): void => {
    const version = versionOf(dir);
    if (version === current.version || version === refused) return;
    try {
      current = read(dir);
      log.info({ dir }, "tls.certificate_replaced");
      for (const listener of listeners) listener(current.material);
    } catch (err) {
      refused = version;
      log.error({ err, dir }, "tls.certificate_refused");
    }
  };
  let timer: NodeJS.Timeout | undefined;
  return {
    context: {
      get context() {
        look(); // or a server that takes the new one only would refuse us until the next look
        return current.context.context as unknown; // Node's own, which only Node can read
      },
    },
    follow: (listener) => {
      listeners.add(listener);
      listener(current.material);
      timer ??= setInterval(look, everyMs).unref();
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0) return;
        clearInterval(timer);
        timer = undefined;
      };
    },
  };
};

type Read = { version: string; material: Material; context: SecureContext };

/** Its version is read first: what is replaced meanwhile is read again at the next look. */
const read = (dir: string): Read => {
  const version = versionOf(dir);
  const text = (name: string): string => readFileSync(join(dir, name), "utf8");
  const material = {
    cert: text("tls.crt"),
    key: text("tls.key"),
    ...(version.endsWith(none) ? {} : { ca: text("ca.crt") }),
  };
  return { version, material, context: createSecureContext(material) }; // throws unless certificate and key belong together
};

const none = "none";

/** Tells the files apart from what takes their place; those of a Secret that is mounted are replaced all at once. */
const versionOf = (dir: string): string =>
  ["tls.crt", "tls.key", "ca.crt"]
    .map((name) => statSync(join(dir, name), { throwIfNoEntry: false }))
    .map((found) => (found === undefined || found.size === 0 ? none : `${found.ino}-${found.mtimeMs}-${found.size}`))
    .join();
