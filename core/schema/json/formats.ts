import { fullFormats } from "ajv-formats/dist/formats.js";
import { isSecure } from "./secure-address.ts";

const dateTime = fullFormats["date-time"] as { validate: (text: string) => boolean }; // sound: ajv-formats makes it so

/** Formats of our own, by the name that a schema gives them. Each takes a string and says whether it has the form. */
export const ourFormats = {
  /** RFC 3339, and an instant: `Date` reads neither a leap second nor an offset of hours alone. */
  "date-time": (text: string): boolean => dateTime.validate(text) && !Number.isNaN(Date.parse(text)),
  /** An absolute https address; plain http only for a loopback host, where simulators and tests live. */
  "https-url": (text: string): boolean => isHttpsUrl(text),
  /** An IPv4 or IPv6 network such as `10.0.0.0/8`. */
  cidr: (text: string): boolean => isCidr(text),
} as const;

/** What to tell a person whose text does not have a format. */
export const formatMessages: Record<string, string> = {
  "date-time": "must be an ISO 8601 date and time with a zone, such as 2026-01-31T09:00:00Z",
  "iso-date-time": "must be an ISO 8601 date and time, such as 2026-01-31T09:00:00Z",
  email: "must be an e-mail address",
  uri: "must be an absolute address such as https://example.com/a",
  "https-url": "must be an https address (http only for a loopback host)",
  cidr: "must be a network such as 10.0.0.0/8",
};

const isHttpsUrl = (text: string): boolean => {
  const url = URL.parse(text);
  return url !== null && url.username === "" && url.password === "" && isSecure(url);
};

const isCidr = (text: string): boolean => {
  const [, address = "", bits = ""] = /^([^/]{2,45})\/(\d{1,3})$/.exec(text) ?? [];
  if (matches(fullFormats.ipv4, address)) return Number(bits) <= 32;
  return matches(fullFormats.ipv6, address) && Number(bits) <= 128;
};

const matches = (format: unknown, text: string): boolean => format instanceof RegExp && format.test(text);
