import { keyRing } from "#core/runtime/process/key-ring.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { Credentials } from "../../../dev/simulators/kit/credentials.ts";
import { testKeyRing } from "../rows/fixtures.ts";
import type { System } from "./system.ts";

/** Gives an installation's app accounts of `sms`, `rcs` and `whatsapp` at Twilio. */
export const giveTexts = async (
  { db, app }: System,
  { twilio: { sms, rcs, whatsapp } }: Credentials,
): Promise<void> => {
  const seal = (text: string, place: string) => keyRing(testKeyRing).seal(text, `apps/${app._id}/${place}`);
  const key = { api_key_sid: null, api_key_secret: null };
  const texts: AppRow["channels"] = {
    sms: {
      provider: "twilio",
      twilio: {
        account_sid: sms.accountSid,
        auth_token: seal(sms.authToken, "sms.twilio.auth_token"),
        ...key,
        messaging_service_sid: null,
        senders: [...sms.senders],
      },
      vonage: null,
    },
    rcs: {
      account_sid: rcs.accountSid,
      auth_token: seal(rcs.authToken, "rcs.auth_token"),
      ...key,
      sender: rcs.rcsSender ?? "",
      messaging_service_sid: rcs.messagingServiceSid,
    },
    whatsapp: {
      provider: "twilio",
      phone_number_id: null,
      api_version: null,
      messages_per_second: 80,
      access_token: null,
      app_secret: null,
      verify_token: null,
      twilio: {
        account_sid: whatsapp.accountSid,
        auth_token: seal(whatsapp.authToken, "whatsapp.twilio.auth_token"),
        ...key,
        sender: whatsapp.whatsappSender?.replace("whatsapp:", "") ?? "",
      },
    },
  };
  const set = Object.fromEntries(Object.entries(texts).map(([channel, account]) => [`channels.${channel}`, account]));
  await db.collection<AppRow>("apps").updateOne({ _id: app._id }, { $set: set, $inc: { channels_revision: 1 } });
};
