import { expect } from "chai";
import type { ApiKeyRow } from "#core/storage/api-keys/api-keys.ts";
import type { Api } from "../../../support/api/api.ts";
import type { Installation, Manifest, Seen } from "./harness.ts";
import { type manifests, textOf } from "./manifests.ts";

const hourMs = 3_600_000;

/** What tests ask of keys and their tokens. `given` is called when it is needed, for `before` fills its members. */
export const keysOf = (
  given: () => { herald: Installation; make: ReturnType<typeof manifests>; api: Pick<Api, "call"> },
) => {
  let n = 0;
  const rows = () => given().herald.db.collection<ApiKeyRow>("api_keys");
  const nameOf = (key: Manifest): string => (key.spec as { connectionSecretName: string }).connectionSecretName;
  const secretOf = (key: Manifest): Promise<Seen | null> => given().herald.get(given().make.secret(nameOf(key), {}));
  const tokenOf = async (key: Manifest): Promise<string> => textOf(await secretOf(key), "token");
  const statusOf = async (key: Manifest) => (await given().herald.get(key))?.status ?? {};
  const answer = async (token: string): Promise<number> =>
    (await given().api.call("GET", "/v1/notifications", { token })).status;
  /** A key that works. */
  const aKey = async (spec: object = {}): Promise<{ key: Manifest; token: string; id: string }> => {
    const { herald, make } = given();
    const key = make.apiKey(spec, `key-${++n}`);
    await herald.apply(key);
    const { status } = await herald.ready(key);
    const token = await tokenOf(key);
    expect(await answer(token)).to.equal(200);
    return { key, token, id: status?.id ?? "" };
  };
  /** As if so much time had gone by since the token was made. */
  const age = (id: string, hours: number) =>
    rows().updateOne({ _id: id }, { $set: { rotated_at: new Date(Date.now() - hours * hourMs) } });
  return { rows, nameOf, secretOf, tokenOf, statusOf, answer, aKey, age };
};
