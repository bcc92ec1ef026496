import { expect } from "chai";
import { webhookResource } from "#core/schema/webhooks/resource.ts";
import type { ManagedRow, ManagedRows } from "#core/storage/settings/managed.ts";
import { webhookCollection } from "#core/storage/webhooks/webhooks.ts";
import type { Verdict } from "../../../../operator/engine/handler.ts";
import { makeStores } from "../../../../operator/engine/stores.ts";
import type { Claimant } from "../../../../operator/policies/management.ts";
import { defineKind, type KindDeclaration } from "../../../../operator/records/kind.ts";
import { ownSecret } from "../../../../operator/records/own-secret.ts";
import type { Platform } from "../../../../operator/records/platform.ts";

const signal = new AbortController().signal;
const fine: Verdict = { ready: { status: "True", reason: "Reconciled", message: "" }, isChanged: false };

const anObject = (spec: Partial<Claimant["spec"]> = {}): Claimant => ({
  metadata: { name: "events", namespace: "n", uid: "uid", resourceVersion: "1" },
  spec: { managementPolicy: "Enforce", deletionPolicy: "Delete", ...spec },
});
const aSecret = (name: string, resourceVersion: string) => ({
  metadata: { name, namespace: "n", uid: name, resourceVersion },
});

/** A kind whose handler counts its passes, with two Secrets and, unless `hasInputs` is false, one other input. */
const world = (over: Partial<KindDeclaration<Claimant, ManagedRow>> = {}, hasInputs = true) => {
  const state = { passes: 0, input: 1 };
  const kind = defineKind<Claimant, ManagedRow>({
    definition: webhookResource,
    what: "webhook",
    collection: webhookCollection,
    rows: () => ({ find: async () => null }) as unknown as ManagedRows<ManagedRow>, // nothing else is asked
    ownSecret: ownSecret(webhookResource, { what: "webhook", credential: "secret", nameOf: () => "signing" }),
    readsSecrets: () => ["keys"],
    ...(hasInputs && { inputs: () => async () => [state.input] }),
    handler: () => ({
      reconcile: async () => {
        state.passes++;
        return fine;
      },
      remove: async () => null,
    }),
    ...over,
  });
  const stores = makeStores([kind]);
  const clock = { now: () => new Date("2026-11-22T12:00:00Z") };
  const handler = kind.handler({ stores, clock } as unknown as Platform); // what this kind uses of it
  const object = anObject();
  return { kind, state, stores, pass: () => handler.reconcile(object, signal) };
};

describe("a kind", () => {
  it("spares a pass while nothing that decides it has changed", async () => {
    const { state, pass } = world();
    await pass();
    await pass();
    expect(state.passes).to.equal(1);
  });

  for (const [name, of] of [
    ["its own Secret", "signing"],
    ["a Secret that it reads", "keys"],
  ] as const) {
    it(`makes a pass when ${name} came, changed or went`, async () => {
      const { state, stores, pass } = world();
      await pass();
      stores.secrets.put(aSecret(of, "1"));
      await pass();
      stores.secrets.put(aSecret(of, "2"));
      await pass();
      stores.secrets.remove(aSecret(of, "2"));
      await pass();
      expect(state.passes).to.equal(4);
    });
  }

  it("makes a pass when another input changed", async () => {
    const { state, pass } = world();
    await pass();
    state.input++;
    await pass();
    expect(state.passes).to.equal(2);
  });

  it("makes every pass when it declares no inputs", async () => {
    const { state, pass } = world({}, false);
    await pass();
    await pass();
    expect(state.passes).to.equal(2);
  });

  it("finds its resources by their Secrets, and by the record that they name", () => {
    const { indexes } = world({ isRecordReported: true }).kind;
    const named = anObject({ externalName: "whk_1" });
    expect(indexes["secret"]?.(named)).to.deep.equal(["n/signing", "n/keys"]);
    expect(indexes["external"]?.(named)).to.deep.equal(["whk_1"]);
    expect(indexes["external"]?.(anObject())).to.deep.equal([]);
    expect(indexes["record"]?.(named)).to.deep.equal(["whk_1"]);
  });
});
