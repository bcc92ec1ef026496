import type { Db } from "mongodb";
import { type LinkKind, linkKinds, linksPurpose } from "#core/channels/email/links.ts";
import type { Clock } from "#core/domain/clock.ts";
import type { CallbackQueue } from "#core/queue/callbacks.ts";
import type { KeyRing } from "#core/runtime/process/key-ring.ts";
import type { Log } from "#core/runtime/process/log.ts";
import type { Directory } from "#core/storage/directory.ts";
import { ofApp } from "#core/storage/mongo/collection.ts";
import { subscriptions } from "#core/storage/people/subscriptions.ts";
import { suppressionKeys } from "#core/storage/suppressions/keys.ts";
import { preferences } from "#core/storage/suppressions/preferences.ts";
import { suppressions } from "#core/storage/suppressions/suppressions.ts";
import { suppressionWishes } from "#core/storage/suppressions/wish.ts";
import type { Outside, OutsideReply, OutsideRequest } from "../http/outside.ts";
import { counting } from "./recording.ts";
import { opened, redirected } from "./tracked.ts";
import { type LeavingDeps, leaving } from "./unsubscribe.ts";

type LinkPlatform = {
  db: Db;
  secrets: KeyRing;
  directory: Pick<Directory, "app">;
  callbacks: CallbackQueue;
  clock: Clock;
  log: Log;
};

const answers: Record<LinkKind, (deps: LeavingDeps) => (request: OutsideRequest) => Promise<OutsideReply>> = {
  o: opened,
  c: redirected,
  u: leaving,
};

/** Where the links of mails lead to. Source: docs/reference/email.md#links. */
export const mailLinks: readonly Outside<LinkPlatform>[] = (Object.keys(linkKinds) as LinkKind[]).map((kind) => ({
  prefix: `/${kind}/`,
  path: `/${kind}/{token}`,
  bind: ({ db, secrets, directory, callbacks, clock, log }) =>
    answers[kind]({
      signer: secrets.signer(linksPurpose),
      app: directory.app,
      contact: (app, id) => subscriptions(db).find(ofApp(app), id),
      preferences: preferences({
        suppressions: suppressions(db),
        wishes: suppressionWishes(db),
        subjectsOf: suppressionKeys(db, secrets, clock),
        clock,
      }),
      keep: callbacks.keep,
      isFew: counting(clock),
      clock,
      log,
    }),
}));
