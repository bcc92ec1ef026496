import { startApns } from "./apns.ts";
import { startFcm } from "./fcm.ts";
import { startHms } from "./hms.ts";
import { type Control, type Simulator, startControl } from "./kit/control.ts";
import { type Credentials, keptCredentials } from "./kit/credentials.ts";
import { startSmtp } from "./smtp.ts";
import { startTwilio } from "./twilio.ts";
import { startVonage } from "./vonage.ts";
import { startWebPush } from "./web-push.ts";
import { startWhatsapp } from "./whatsapp.ts";

/** Where each simulator listens: distance from the stack's first port. */
export const simulatorOffsets = {
  apns: 10,
  fcm: 11,
  webPush: 12,
  smtp: 13,
  control: 14,
  twilio: 16,
  vonage: 17,
  whatsapp: 18,
  hms: 19,
} as const;

export type Simulators = {
  control: Control;
  simulators: Simulator[];
  credentials: Credentials;
  stop: () => Promise<void>;
};

export type SimulatorsOptions = {
  portBase: number;
  /** Keeps their accounts and certificate (`ca.pem`). */
  dir: string;
  /** Addresses under which they are reached beside loopback: the certificate names them. */
  addresses?: readonly string[];
};

/** Starts all simulators and their control API, on loopback. */
export const startSimulators = async ({ portBase, dir, addresses = [] }: SimulatorsOptions): Promise<Simulators> => {
  const credentials = keptCredentials(dir, addresses);
  const { tls, apns, fcm, hms, smtp, twilio, vonage, whatsapp } = credentials;
  const port = (name: keyof typeof simulatorOffsets): number => portBase + simulatorOffsets[name];
  const { channels } = await startTwilio({ port: port("twilio"), tls, accounts: twilio });
  const others = await Promise.all([
    startVonage({ port: port("vonage"), tls, account: vonage }),
    startApns({ port: port("apns"), tls, keys: [apns] }),
    startFcm({ port: port("fcm"), tls, accounts: [fcm], addresses }),
    startHms({ port: port("hms"), tls, account: hms }),
    startWebPush({ port: port("webPush"), tls }),
    startSmtp({ port: port("smtp"), tls, login: smtp }),
    startWhatsapp({ port: port("whatsapp"), tls, account: whatsapp }),
  ]);
  const simulators = [...others, ...Object.values(channels)];
  const control = await startControl(port("control"), simulators);
  const stop = async (): Promise<void> => {
    await control.stop();
    await Promise.all(simulators.map((simulator) => simulator.stop()));
  };
  return { control, simulators, credentials, stop };
};
