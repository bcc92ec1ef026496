import type { Db } from "mongodb";
import { callbacks } from "#core/channels/callbacks.ts";
import type { Clock } from "#core/domain/clock.ts";
import type { CallbackQueue } from "#core/queue/callbacks.ts";
import { publicAuthorities } from "#core/runtime/http/public-authorities.ts";
import type { ApiserverMetrics } from "#core/runtime/metrics/apiserver.ts";
import type { KeyRing } from "#core/runtime/process/key-ring.ts";
import type { Log } from "#core/runtime/process/log.ts";
import type { Directory } from "#core/storage/directory.ts";
import type { FileStore } from "#core/storage/files/store.ts";
import { callbackTokens } from "#core/storage/service/callback-tokens.ts";
import { fetchedCertificates, providerCertificates } from "#core/storage/service/provider-certificates.ts";
import type { Outside } from "../http/outside.ts";
import { floodLimits } from "./flood-limits.ts";
import { keeping } from "./keeping.ts";
import { receive } from "./receive.ts";

/** What of the platform these use cases take. */
export type CallbackPlatform = {
  db: Db;
  directory: Pick<Directory, "app">;
  secrets: Pick<KeyRing, "open">;
  callbacks: CallbackQueue;
  files: Pick<FileStore, "kind" | "write" | "remove">;
  settings: { publicUrl: string };
  metrics: Pick<ApiserverMetrics, "callbacks">;
  log: Log;
  clock: Clock;
};

/** Where providers call us. Source: docs/reference/callbacks.md. */
export const ingress: Outside<CallbackPlatform> = {
  prefix: "/ingress/",
  path: "/ingress/{provider}/{appId}",
  bind: ({ db, directory, secrets, callbacks: queue, files, settings, metrics, log, clock }) =>
    receive({
      callbacks,
      app: directory.app,
      unseal: secrets.open,
      certificate: fetchedCertificates({ all: providerCertificates(db).all, clock }),
      trusted: publicAuthorities,
      isFirst: callbackTokens(db).isFirst,
      limits: floodLimits(clock),
      keep: keeping({ queue, files, clock }),
      publicUrl: settings.publicUrl,
      count: (labels) => metrics.callbacks.inc(labels),
      log,
      clock,
    }),
};
