import { keyRing } from "#core/runtime/process/key-ring.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { seedMails } from "../../support/callbacks/deliveries.ts";
import { signedMailgun } from "../../support/callbacks/signed.ts";
import { allAccounts, testKeyRing } from "../../support/rows/fixtures.ts";
import type { System, SystemProgram } from "../../support/system/system.ts";
import { type LoadResult, runLoad } from "../messages/load.ts";

const signingKey = "bench-signing-key";
export const connections = 16; // of each tenant's provider

/** A tenant whose mail provider signs with a key, and mails that were sent. */
export type Sender = {
  system: System;
  messageId: string;
  /** Tells one of the kinds of receipts of some mails. */
  tell: (to: SystemProgram, of: { kind: number; from: number; upTo: number }) => Promise<LoadResult>;
};

type Told = "delivered" | "opened";

/** `told`: the receipts of each mail, a second apart. */
export const aSender = async (
  system: System,
  { mails: count, told }: { mails: number; told: readonly Told[] },
): Promise<Sender> => {
  const { db, app, tenantId } = system;
  const signing_key = keyRing(testKeyRing).seal(signingKey, `apps/${app._id}/email.mailgun.signing_key`);
  const email = { ...allAccounts(app._id).email, mailgun: { signing_key } };
  await db.collection<AppRow>("apps").updateOne({ _id: app._id }, { $set: { "channels.email": email } });
  const { messageId, mails } = await seedMails(db, { tenant_id: tenantId, app_id: app._id }, count);
  const beganS = Date.now() / 1_000;
  const bodies = told.map((event, kind) =>
    mails.map(({ delivery, subscription }) => {
      const message = { headers: { "message-id": `${delivery._id}@shop.example` } };
      const receipt = { event, timestamp: beganS + kind, recipient: subscription.token, message };
      return signedMailgun(receipt, { key: signingKey }).body;
    }),
  );
  return {
    system,
    messageId,
    tell: async (to, { kind, from, upTo }) => {
      const result = await runLoad({
        url: `${to.url}/ingress/mailgun/${app._id}`,
        connections,
        requests: upTo - from,
        headers: {},
        body: (n) => bodies[kind]?.[from + n] ?? "",
        status: 200,
      });
      const failures = Object.entries(result.failures);
      if (failures.length > 0) throw new Error(`callbacks that were refused: ${JSON.stringify(failures)}`);
      return result;
    },
  };
};
