import { expect } from "chai";
import { unauthenticated } from "../../../../../apiserver/access/authenticate.ts";
import { authentication } from "../../../../../apiserver/http/middleware/authentication.ts";

describe("the key of a request", () => {
  const [missing, invalid] = [unauthenticated("missing").message, unauthenticated("invalid").message];

  /** The token that is looked up, or what is refused. */
  const read = async (headers: Record<string, string>): Promise<string> => {
    const asked: string[] = [];
    const check = authentication({
      authenticate: async (token) => {
        asked.push(token);
        return unauthenticated("revoked");
      },
      findDevice: () => expect.fail("no device calls"),
      used: () => expect.fail("nobody is known"),
      traces: { ofCaller: () => expect.fail("nobody is known") },
    });
    const get = (name: string): string => headers[name] ?? "";
    const ctx = { get, state: { route: { scopes: ["admin"] } } } as unknown as Parameters<typeof check>[0]; // what it reads
    const found = await check(ctx);
    return asked[0] ?? (found instanceof Error ? found.message : "");
  };

  const cases: [headers: Record<string, string>, says: string][] = [
    [{}, missing],
    [{ Authorization: "Bearer hk_a" }, "hk_a"],
    [{ Authorization: "key hk_a" }, "hk_a"],
    [{ Authorization: "Basic hk_a" }, "hk_a"],
    [{ Authorization: "hk_a" }, invalid],
    [{ Authorization: "Digest hk_a" }, invalid],
    [{ "X-API-Key": "hk_a" }, "hk_a"],
    [{ "X-API-Key": "hk a" }, invalid],
    [{ "X-API-Key": "a".repeat(513) }, invalid],
    [{ Authorization: "Bearer hk_a", "X-API-Key": "hk_a" }, "hk_a"],
    [{ Authorization: "Bearer hk_a", "X-API-Key": "hk_b" }, invalid],
    [{ Authorization: "Digest x", "X-API-Key": "hk_b" }, invalid],
  ];
  for (const [headers, says] of cases)
    it(`is read from ${JSON.stringify(headers).slice(0, 80)}`, async () => {
      expect(await read(headers)).to.equal(says);
    });
});
