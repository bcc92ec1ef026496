import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { createSecureContext } from "node:tls";
import type { Clock } from "#core/domain/clock.ts";
import type { Log } from "#core/runtime/process/log.ts";

export type CertificatesDeps = { dir: string; clock: Clock; log: Log };

export type Certificates = {
  /** The certificate and its key, if they are others than when this was asked last; looked for once in a minute. */
  changed: () => { cert: string; key: string } | null;
};

const everyMs = 60_000;

/**
 * The certificate of a folder, `tls.crt` and `tls.key`, which is replaced before it expires. One that cannot be used is logged,
 * and the one before stays in use; the first has to be good.
 * @throws Error when the first cannot be read
 */
export const certificatesIn = ({ dir, clock, log }: CertificatesDeps): Certificates => {
  let [lookedAtMs, version] = [0, ""];
  const read = (): { cert: string; key: string } | null => {
    const found = files.map((name) => statSync(join(dir, name)).mtimeMs).join();
    if (found === version) return null;
    const [cert = "", key = ""] = files.map((name) => readFileSync(join(dir, name), "utf8"));
    createSecureContext({ cert, key }); // throws unless they belong together
    version = found;
    return { cert, key };
  };
  return {
    changed: () => {
      const nowMs = clock.now().getTime();
      if (version !== "" && nowMs - lookedAtMs < everyMs) return null;
      lookedAtMs = nowMs;
      try {
        return read();
      } catch (err) {
        if (version === "") throw err;
        log.error({ err }, "smtp.certificate_refused");
        return null;
      }
    },
  };
};

const files = ["tls.crt", "tls.key"] as const;
