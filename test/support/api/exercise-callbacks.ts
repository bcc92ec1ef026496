import { keyRing } from "#core/runtime/process/key-ring.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { providerCertificates } from "#core/storage/service/provider-certificates.ts";
import { seedMails } from "../callbacks/deliveries.ts";
import { type Signed, sendgridKeys, signedMailgun, snsTopic } from "../callbacks/signed.ts";
import { allAccounts, testKeyRing } from "../rows/fixtures.ts";
import type { Sending } from "../system/sending.ts";
import type { SystemProgram } from "../system/system.ts";
import { until } from "../until.ts";

const key = "key-1";
const topic = snsTopic("arn:aws:sns:xx-nowhere-1:123456789012:mails");

/** Gives the app an account of every mail provider that signs; what it returns makes callbacks of each kind. */
export const addMailAccount = async (system: Sending["system"]): Promise<(api: SystemProgram) => Promise<void>> => {
  const { db, app } = system;
  const keys = sendgridKeys();
  const email = {
    ...allAccounts(app._id).email,
    sendgrid: { public_key: keys.publicKey },
    mailgun: { signing_key: keyRing(testKeyRing).seal(key, `apps/${app._id}/email.mailgun.signing_key`) },
    ses: { topic_arn: topic.topicArn },
  };
  await db.collection<AppRow>("apps").updateOne({ _id: app._id }, { $set: { "channels.email": email } });
  await providerCertificates(db).keep("https://sns.example/old.pem", topic.certificate, new Date());
  return (api) => useCallbacks(system, api, keys);
};

const useCallbacks = async (
  { db, app, tenantId }: Sending["system"],
  api: SystemProgram,
  { signed }: ReturnType<typeof sendgridKeys>,
): Promise<void> => {
  const post = async (provider: string, { headers, body }: Signed): Promise<void> => {
    const reply = await fetch(`${api.url}/ingress/${provider}/${app._id}`, { method: "POST", headers, body });
    if (!reply.ok) throw new Error(`callback: ${reply.status} ${await reply.text()}`);
  };
  const { mails } = await seedMails(db, { tenant_id: tenantId, app_id: app._id }, 3);
  const kinds = ["delivered", "open", "click", "bounce", "spamreport", "unsubscribe"];
  const events = mails.flatMap(({ delivery }) =>
    kinds.map((event) => ({ event, timestamp: Math.floor(Date.now() / 1_000), "herald-delivery": delivery._id })),
  );
  for (let n = 0; n < 2; n++) await post("sendgrid", signed(events));
  const delivered = signedMailgun({ event: "delivered" }, { key });
  for (let n = 0; n < 2; n++) await post("mailgun", delivered);
  await post("ses", topic.notification({ eventType: "Send" }));
  const isDone = async () => (await db.collection("deliveries").countDocuments({ status: "complained" })) === 3;
  await until(isDone, 60_000);
};
