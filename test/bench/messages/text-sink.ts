import type { Simulator } from "../../../dev/simulators/kit/control.ts";
import type { Credentials } from "../../../dev/simulators/kit/credentials.ts";
import { startTwilio } from "../../../dev/simulators/twilio.ts";
import { startWhatsapp } from "../../../dev/simulators/whatsapp.ts";

/** What the parent says first: the channel whose provider to be, and whom to know. */
export type TextSink = { channel: "sms" | "rcs" | "whatsapp"; credentials: Credentials };

const twilio = async ({ tls, twilio: accounts }: Credentials): Promise<Simulator[]> =>
  Object.values((await startTwilio({ port: 0, tls, accounts })).channels);
const meta = async ({ tls, whatsapp: account }: Credentials): Promise<Simulator[]> => [
  await startWhatsapp({ port: 0, tls, account, messagesPerSecond: 1_000_000 }),
];
const providers = { sms: twilio, rcs: twilio, whatsapp: meta };

// A provider's simulator as a process of its own, which reports nothing; it answers with its address, then with counts.
const serve = async ({ channel, credentials }: TextSink): Promise<void> => {
  const simulators = await providers[channel](credentials);
  for (const { script } of simulators) script({ statuses: [] });
  const accepted = () => simulators.reduce((sum, { log }) => sum + log.counts().accepted, 0);
  process.on("message", () => process.send?.(accepted()));
  process.send?.(simulators[0]?.url);
};
process.once("message", (settings: TextSink) => void serve(settings));
process.once("disconnect", () => process.exit());
