import { mkdir, rename, symlink, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { type Issuer, issuedForLoopback } from "../../../dev/simulators/kit/certificate.ts";

let written = 0;

/**
 * A folder with a certificate of an authority, and whom it trusts, as the kubelet makes one of a Secret: all files are
 * replaced at once, by a link to a folder beside them.
 */
export const putCertificate = async (folder: string, by: Issuer, ca: string) => {
  const { cert, key } = issuedForLoopback(by, basename(folder));
  const data = join(folder, `..${++written}`);
  await mkdir(data, { recursive: true });
  const texts = { ca: ["ca.crt", ca], cert: ["tls.crt", cert], key: ["tls.key", key] } as const;
  for (const [file, text] of Object.values(texts)) {
    await writeFile(join(data, file), text);
    await symlink(join("..data", file), join(folder, file)).catch(() => undefined); // it is there already
  }
  await symlink(data, join(folder, "..next"));
  await rename(join(folder, "..next"), join(folder, "..data"));
  const at = (use: keyof typeof texts): string => join(folder, texts[use][0]);
  return { folder, files: { ca: at("ca"), cert: at("cert"), key: at("key") }, material: { cert, key, ca } };
};
