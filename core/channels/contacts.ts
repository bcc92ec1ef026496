import type { FieldError } from "../errors.ts";
import type { Target } from "../schema/messages/notification.ts";
import { type ContactChannel, isContact } from "../schema/vocabulary/channels.ts";
import { checkAddress } from "./addresses.ts";

/** An address that a target names itself, on a channel that it is a contact of. */
export type Contact = { channel: ContactChannel; token: string };

/**
 * The contacts of a target, each once: a mail address is one of e-mail, a number one of SMS, or of those of SMS, WhatsApp and
 * RCS that the target names. Addresses that are none are left out. Source: docs/reference/messages.md#contacts.
 */
export const contactsOf = (target: Target): Contact[] => {
  const all = given(target).flatMap(({ address, channels }) =>
    channels.flatMap((channel): Contact[] => {
      const checked = checkAddress(channel, address);
      return checked.ok ? [{ channel, token: checked.address }] : [];
    }),
  );
  return [...new Map(all.map((one) => [`${one.channel} ${one.token}`, one])).values()];
};

/** The addresses of a target that are none, each by its place. */
export const contactErrors = (target: Target): FieldError[] =>
  given(target).flatMap(({ address, channels, field }) => {
    const [channel = "email"] = channels;
    const checked = checkAddress(channel, address);
    return checked.ok ? [] : [{ field, message: checked.problem }];
  });

/** The channels of its numbers: those of them that it names, else SMS. */
export const numberChannels = ({ channels = [] }: Target): ContactChannel[] => {
  const named = [...new Set(channels)].filter(isContact).filter((channel) => channel !== "email");
  return named.length > 0 ? named : ["sms"];
};

type Given = { address: string; channels: ContactChannel[]; field: string };

const given = (target: Target): Given[] => {
  const { email_to: mails = [], include_phone_numbers: numbers = [] } = target;
  const ofNumbers = numberChannels(target);
  return [
    ...mails.map((address, i): Given => ({ address, channels: ["email"], field: `target.email_to[${i}]` })),
    ...numbers.map((address, i) => ({ address, channels: ofNumbers, field: `target.include_phone_numbers[${i}]` })),
  ];
};
