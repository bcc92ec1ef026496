import { isSecure } from "../../schema/json/secure-address.ts";
import { BadSecret, privateKeyOf } from "./secret-text.ts";

/** What Google's file of a service account says, of what sending needs. */
export type ServiceAccountFile = { project_id: string; client_email: string; token_uri: string; private_key: string };

/** Reads the file that the Google Cloud console gives for a service account. @throws BadSecret when it is another text */
export const serviceAccount = (text: string): ServiceAccountFile => {
  const file = jsonObject(text);
  const member = (name: string): string => {
    const value = file[name];
    if (typeof value !== "string" || value === "") throw new BadSecret(`has no ${name}`);
    return value;
  };
  const account = {
    project_id: member("project_id"),
    client_email: member("client_email"),
    token_uri: member("token_uri"),
    private_key: member("private_key"),
  };
  const tokenAddress = URL.parse(account.token_uri);
  if (tokenAddress === null || !isSecure(tokenAddress)) throw new BadSecret("token_uri is not an https address");
  if (privateKeyOf(account.private_key).asymmetricKeyType !== "rsa")
    throw new BadSecret("private_key is not an RSA key");
  return account;
};

const jsonObject = (text: string): Record<string, unknown> => {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null) return value as Record<string, unknown>; // any object of JSON
  } catch {
    // the error below says it: the parser's own message quotes the text
  }
  throw new BadSecret("is not a JSON object");
};
