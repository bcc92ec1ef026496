import { smtpProvider } from "#core/channels/email/callbacks/smtp.ts";
import { madeAtStart, type Part } from "#core/runtime/process/lifecycle.ts";
import { certificatesOf } from "#core/runtime/tls/certificates.ts";
import type { Directory } from "#core/storage/directory.ts";
import { keeping } from "../keeping.ts";
import type { CallbackPlatform } from "../outside.ts";
import { smtpLimits } from "./limits.ts";
import type { SmtpListenerOptions } from "./listener.ts";
import { mailTaking } from "./take.ts";

type SmtpPlatform = Pick<CallbackPlatform, "callbacks" | "files" | "metrics" | "log" | "clock"> & {
  directory: Pick<Directory, "app" | "tenant" | "plan">;
};

/** Where mails of people are taken, if they are. */
type SmtpSettings = {
  httpHost: string;
  smtpDomain?: string | undefined;
  smtpPort: number;
  smtpTlsDir?: string | undefined;
};

/** The part that takes mails of people over SMTP; none unless the settings say so: then its library is not loaded either. */
export const smtpParts = (platform: SmtpPlatform, settings: SmtpSettings): Part[] => {
  const { smtpDomain: domain, smtpTlsDir: dir } = settings;
  if (domain === undefined) return [];
  const { callbacks: queue, directory, files, metrics, log, clock } = platform;
  const limits = smtpLimits(clock);
  const isTaking = async ({ tenantId }: { tenantId: string }): Promise<boolean> => {
    const owner = await directory.tenant(tenantId);
    const plan = owner === null ? null : await directory.plan(owner.plan);
    return plan?.features.includes("conversations") ?? false;
  };
  const keep = keeping({ queue, files, clock });
  const options: SmtpListenerOptions = {
    host: settings.httpHost,
    port: settings.smtpPort,
    domain,
    certificates: certificatesOf(dir, log),
    taking: mailTaking({ domain, app: directory.app, isTaking, keep, limits, clock }),
    limits,
    count: (outcome) => metrics.callbacks.inc({ provider: smtpProvider, outcome }),
    log,
  };
  return [madeAtStart("smtp listener", async () => (await import("./listener.ts")).smtpListener(options))];
};
