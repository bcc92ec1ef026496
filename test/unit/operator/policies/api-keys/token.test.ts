import { expect } from "chai";
import { hashOf } from "#core/domain/api-keys/hashes.ts";
import type { ApiKeyRow } from "#core/storage/api-keys/api-keys.ts";
import { type KeySituation, keyTokensOf } from "../../../../../operator/policies/api-keys/token.ts";

const tokenOf = (letter: string): string => `hk_${letter.repeat(43)}`;
const [current, lost, former] = [tokenOf("c"), tokenOf("l"), tokenOf("f")];
const hashes = (...tokens: string[]) => tokens.map((token) => ({ hash: hashOf(token), expires_at: null }));
const managed = { uid: "me" } as ApiKeyRow["managed"];
const aRow = (tokens: string[], parts: Partial<ApiKeyRow> = {}) =>
  ({ hashes: hashes(...tokens), revoked_at: null, managed, ...parts }) as ApiKeyRow; // the members that count
const inSecret = (token: string): KeySituation["before"] =>
  ({
    kind: "own",
    isOwned: true,
    values: { token },
    rotatedFor: null,
    secret: {},
  }) as unknown as KeySituation["before"];

describe("policy: the tokens of a key", () => {
  const absent = { kind: "absent" } as const;
  const cases: { it: string; given: Partial<KeySituation>; inUse?: string; known: string[] }[] = [
    { it: "begin with none", given: {}, known: [] },
    {
      it: "stay",
      given: { before: inSecret(current), row: aRow([current, former]) },
      inUse: current,
      known: [current, former],
    },
    {
      it: "lose one that never came to be in the Secret, and the one in it is followed by another",
      given: { before: inSecret(current), row: aRow([lost, current]) },
      known: [current],
    },
    {
      it: "are that of the Secret, when a person wrote another there, and the one before",
      given: { before: inSecret(current), row: aRow([former]), isMade: true },
      inUse: current,
      known: [former],
    },
    {
      it: "are those of the Secret when the record is removed",
      given: { before: inSecret(current), isMade: true },
      inUse: current,
      known: [],
    },
    { it: "are none of a tenant before", given: { before: inSecret(current) }, known: [] },
    {
      it: "are none of a tenant before when the new one could not be written",
      given: { before: inSecret(former), row: aRow([lost]) },
      known: [],
    },
    { it: "end with their Secret", given: { before: absent, row: aRow([current]), isMade: true }, known: [] },
    {
      it: "go on when the key is taken over without its Secret",
      given: { before: absent, row: aRow([current], { managed: null }) },
      known: [current],
    },
    {
      it: "go on when it is taken over, and its Secret could not be written",
      given: { before: absent, row: aRow([lost, current]) },
      known: [current],
    },
    {
      it: "go on when the key is the successor's of a resource that is gone",
      given: { before: absent, row: aRow([current], { managed: { ...managed!, uid: "before" } }) },
      known: [current],
    },
    {
      it: "never work again once they were revoked",
      given: { before: inSecret(current), row: aRow([current, former], { revoked_at: new Date() }), isMade: true },
      known: [],
    },
    {
      it: "are replaced when somebody asks",
      given: { before: inSecret(current), row: aRow([current]), asked: "1" },
      known: [current],
    },
    {
      it: "are none that are not ours, and the one before is replaced",
      given: { before: inSecret("secret"), row: aRow([current]), isMade: true },
      known: [current],
    },
    {
      it: "are replaced when somebody took the token out of the Secret",
      given: { before: { ...inSecret(""), values: {} } as KeySituation["before"], row: aRow([current]), isMade: true },
      known: [current],
    },
  ];
  for (const { it: name, given, inUse = null, known } of cases) {
    it(name, () => {
      const nothing = { spec: {}, asked: undefined, uid: "me", isMade: false, row: null, before: absent };
      const at: KeySituation = { ...nothing, now: new Date(), ...given };
      expect(keyTokensOf(at)).to.deep.equal({ inUse, known: hashes(...known) });
    });
  }
});
