import type { Signer } from "../../../domain/signer.ts";
import type { Download } from "../store.ts";

/** What such addresses are signed for: {@link Signer} of the key ring. */
export const filesPurpose = "files";

/** Where the apiserver serves files. */
export const filesPrefix = "/files/";

export type SignedFile = Download & { key: string };

/** An address under which the apiserver serves a file until an instant. */
export const addressIn = (publicUrl: string, signer: Signer, file: SignedFile): string => {
  const { key, fileName, contentType } = file;
  const expires = String(secondsOf(file.expiresAt));
  const query = new URLSearchParams({ expires, name: fileName, type: contentType });
  query.set("signature", signer.sign(signedText({ key, expires, fileName, contentType })));
  return `${publicUrl.replace(/\/$/, "")}${filesPrefix}${key}?${query.toString()}`;
};

/** What an address says, if we signed it and its time is not over; else null. `target` is path and query as they came. */
export const readAddress = (target: string, signer: Signer, now: Date): SignedFile | null => {
  const { pathname, searchParams } = new URL(target, "http://herald");
  const key = pathname.slice(filesPrefix.length);
  const [expires, fileName, contentType, signature] = ["expires", "name", "type", "signature"].map(
    (name) => searchParams.get(name) ?? "",
  ) as [string, string, string, string]; // sound: four names
  if (!signer.isSigned(signedText({ key, expires, fileName, contentType }), signature)) return null;
  const expiresAt = new Date(Number(expires) * 1_000);
  return expiresAt > now ? { key, fileName, contentType, expiresAt } : null;
};

type SignedMembers = { key: string; expires: string; fileName: string; contentType: string };

/** None of them holds a line break: an address cannot be read in two ways. */
const signedText = ({ key, expires, fileName, contentType }: SignedMembers): string =>
  [key, expires, fileName, contentType].map(encodeURIComponent).join("\n");

const secondsOf = (instant: Date): number => Math.floor(instant.getTime() / 1_000);
